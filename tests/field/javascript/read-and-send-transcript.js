// A document goes into a record of another service without passing through the model.
// servers: files, crm
// calls: files.read_text_file 1, crm.update-contact 1
// result: {"contact":"c1","lastMeeting":"2026-03-02","characters":155}
const transcript = (await filesReadTextFile({ path: "notes/meeting.md" }));
const [, date] = transcript.match(/^# Meeting (\S+)/);
const updated = await crmUpdateContact({
  id: "c1",
  fields: { notes: transcript, lastMeeting: date },
});
console.log(`updated ${updated.name}`);
return { contact: updated.id, lastMeeting: updated.lastMeeting, characters: updated.notes.length };
