// The tool is found by words, its schema read, then called by its id.
// servers: weather, files, mail
// calls: weather.get-forecast 1
// result: {"id":"weather.get-forecast","required":["city"],"days":1}
const [found] = discoverTools("weather forecast days");
const schema = toolSchema(found.id);
const forecast = tools[found.id]({ city: "Oslo", days: 1 });
({ id: found.id, required: (schema.inputSchema ?? schema.input ?? schema).required, days: forecast.days.length });
