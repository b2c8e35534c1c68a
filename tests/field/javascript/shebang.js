#!/usr/bin/env -S lathe run
// A file that can be started by itself.
// servers: weather
// calls: weather.get-current 1
// result: 3.1
const { temperature } = await weatherGetCurrent({ city: "Oslo" });
return temperature;
