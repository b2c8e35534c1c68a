# asyncio.gather over coroutines that call tools.
# servers: weather
# calls: weather.get-current 3
# result: {"Oslo":3.1,"Austin":24.5,"London":10.2}
import asyncio

async def temperature(city):
    report = weather_get_current(city=city)
    return city, report["temperature"]

async def main():
    pairs = await asyncio.gather(*(temperature(c) for c in ["Oslo", "Austin", "London"]))
    return dict(pairs)

set_result(asyncio.run(main()))
