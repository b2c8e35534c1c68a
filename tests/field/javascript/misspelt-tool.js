// A name that is nearly right: the error says which is meant.
// servers: weather
// error: weatherGetCurent is not defined.*weatherGetCurrent
// line: 5
const w = await weatherGetCurent({ city: "Oslo" });
return w.temperature;
