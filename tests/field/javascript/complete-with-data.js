// complete() gives the answer and the data at once.
// servers: weather
// calls: weather.get-current 1
// prints:
//   It is 11.4 degrees in Berlin.
// result: {"stored":true,"followUp":false}
const w = await weatherGetCurrent({ city: "Berlin" });
complete({ response: `It is ${w.temperature} degrees in ${w.city}.`, data: w });
