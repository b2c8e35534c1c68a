// The program takes its parameters from input.
// servers: weather
// input: {"cities": ["Oslo", "Cairo"], "unit": "fahrenheit"}
// calls: weather.get-current 2
// result: ["Oslo 37.6°F","Cairo 82°F"]
const { cities, unit = "celsius" } = input;
const answers = [];
for (const city of cities) answers.push(await weatherGetCurrent({ city, unit }));
return answers.map((a) => `${a.city} ${a.temperature}°${a.unit[0].toUpperCase()}`);
