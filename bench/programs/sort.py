numbers = [(i * 7919 + 104729) % 1000003 for i in range(100000)]
numbers.sort()
numbers[500]
