# await without a function.
# servers: weather
# calls: weather.get-current 2
# result: ["snow","sunny"]
import asyncio

async def city(name):
    await asyncio.sleep(0)
    return weather_get_current(city=name)["condition"]

conditions = await asyncio.gather(city("Oslo"), city("Cairo"))
conditions
