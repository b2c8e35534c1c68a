"""Runs a program that a model could have written, with two tools of this process: one answers, one needs an approval.

    PYTHONPATH=packages/python LATHE_LIBRARY=build/release/liblathe.so.0 python3 examples/embed/python/order.py
"""

import asyncio
import json

import lathe

PROGRAM = """
const stock = shopStock({item: 'tea'});
output(`there are ${stock.count}`);
if (stock.count < 10) { shopOrder({item: 'tea', count: 10 - stock.count}); }
return {ordered: 10 - stock.count};
"""


@lathe.tool(name="shop.stock", read_only=True)
async def stock(item: str) -> dict[str, int]:
    """How many of an item there are."""
    await asyncio.sleep(0.01)  # a database would be asked here
    return {"count": 3}


@lathe.tool(name="shop.order", approval="it spends money")
def order(item: str, count: int) -> dict[str, bool]:
    """Orders more of an item.

    Args:
        item: its name
        count: how many more
    """
    print("ordering:", json.dumps({"item": item, "count": count}))
    return {"ok": True}


async def approve(approval: lathe.Approval) -> bool:
    print(f"approved, although {approval.reason}: {json.dumps(approval.input)}")  # a person would be asked here
    return True


async def main() -> None:
    async with lathe.AsyncSandbox(tools=[stock, order], on_approval=approve) as sandbox:
        try:
            result = await sandbox.run(PROGRAM, on_output=lambda text: print("output:", text))
        except lathe.ProgramError as error:
            raise SystemExit(f"line {error.line}, column {error.column}: {error.message}")
        print(json.dumps({"result": result.value, "calls": [call["tool"] for call in result.calls]}))


asyncio.run(main())
