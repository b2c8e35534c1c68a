// The whole program is one async arrow function, as Cloudflare's code mode asks for.
// servers: weather, mail
// calls: weather.get-current 1, mail.send_email 1
// result: {"sent":true,"id":"s1"}
async () => {
  const weather = await weatherGetCurrent({ city: "Austin" });
  if (weather.condition !== "sunny") {
    return { sent: false, reason: weather.condition };
  }
  const message = await mailSendEmail({
    to: "ana@example.com",
    subject: `Sun in ${weather.city}`,
    body: `It is ${weather.temperature} degrees. Go outside!`,
  });
  return { sent: message.status === "sent", id: message.id };
}
