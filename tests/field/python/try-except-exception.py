# except Exception, else and finally.
# servers: bank
# calls: bank.transfer 2
# result: "left 2210.55 - failed: 2210.55 EUR -"
log = []
for amount in (100, 999999):
    try:
        r = bank_transfer(**{"from": "chk", "to": "sav", "amount": amount})
    except Exception as e:
        log.append(f"failed: {str(e).split(': ')[-1]}")
    else:
        log.append(f"left {r['from']['balance']}")
    finally:
        log.append("-")
" ".join(log)
