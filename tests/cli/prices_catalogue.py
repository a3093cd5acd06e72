"""The catalogue of cloud prices, counted again without the program.

check FILE          what every row must be; prints "ROWS PROVIDERS"
list FILE DAY       what `prices list --date DAY -P -n` must print, in its order of columns
                    gpu..term, sorted as text
egress FILE DAY     what `prices list --egress --date DAY -P -n` must print, sorted as text
traffic FILE PROVIDER REGION GB HOURS  what GB a day cost in a year of so many hours
against FILE DIR    each price is one of the files that it was taken from
"""
import csv
import datetime
import re
import sys
from fractions import Fraction

HEADER = ['provider', 'instance', 'region', 'gpu', 'gpus', 'plan', 'price_per_hour', 'currency', 'as_of',
          'source', 'licence']


def rows(file):
    with open(file, newline='', encoding='utf-8') as stream:
        reader = csv.DictReader(stream)
        assert reader.fieldnames == HEADER, reader.fieldnames
        return list(reader)


def day(text):
    return datetime.date.fromisoformat((text + '-01-01')[:10])


def per_gpu(row):
    return Fraction(row['price_per_hour']) / int(row['gpus'])


def check(file):
    seen = set()
    for n, row in enumerate(rows(file), 2):
        assert None not in row and None not in row.values(), n
        for name in set(HEADER) - {'region'}:
            assert row[name].strip(), (n, name)
        assert row['currency'] == 'USD' and int(row['gpus']) >= 1, n
        assert re.fullmatch(r'on-demand|spot|committed-[13]y', row['plan']), n
        assert datetime.date(2026, 1, 1) <= day(row['as_of']) <= datetime.date(2026, 11, 22), n
        assert Fraction('0.1') < per_gpu(row) < 40, (n, per_gpu(row))  # a slip of the point
        assert row['licence'] in ('Apache-2.0', 'MPL-2.0', 'none'), n
        # repository or page, so that the figure can be found again
        assert '/' in row['source'] and len(row['source']) > 15, n
        key = tuple(row[k] for k in ('provider', 'instance', 'region', 'plan', 'as_of'))
        assert key not in seen, (n, key)
        seen.add(key)
    print(len(seen), len({k[0] for k in seen}))


def egress_rows(file, date):
    """The newest price of each tier on or before the day."""
    newest = {}
    with open(file, newline='', encoding='utf-8') as stream:
        for row in csv.DictReader(stream):
            key = row['provider'], row['region'], int(row['above'])
            if day(row['as_of']) <= date and (key not in newest or day(newest[key]['as_of']) < day(row['as_of'])):
                newest[key] = row
    return newest


def egress(file, date):
    date = day(date)
    lines = []
    for (provider, region, above), row in egress_rows(file, date).items():
        read = day(row['as_of'])
        if date < read.replace(year=read.year + 1):
            lines.append('|'.join((provider, region, str(above), row['unit'], decimal(Fraction(row['price_per_gb'])),
                                   row['as_of'], str((date - read).days))))
    print('\n'.join(sorted(lines)))


def traffic(file, provider, region, gb, hours):
    """Month by month, unit by unit of each tier."""
    tiers = sorted((above, row) for (p, r, above), row in egress_rows(file, day('2099-01-01')).items()
                   if (p, r) == (provider, region))
    month = Fraction(gb) * Fraction(hours) / 24 / 12
    if tiers[0][1]['unit'] == 'GiB':
        month = month * 10**9 / 2**30
    cost = 0
    for n, (above, row) in enumerate(tiers):
        end = tiers[n + 1][0] if n + 1 < len(tiers) else month
        cost += max(0, min(month, end) - above) * Fraction(row['price_per_gb'])
    print(f'{float(12 * cost):.2f}')


def decimal(value):
    """Four decimals, half to even."""
    scaled = value * 10000
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * rest
    whole += twice > scaled.denominator or (twice == scaled.denominator and whole % 2)
    return f'{whole // 10000}.{whole % 10000:04d}'


def listing(file, date):
    date = datetime.date.fromisoformat(date)
    newest = {}
    for row in rows(file):
        key = tuple(row[k] for k in ('provider', 'instance', 'region', 'plan'))
        if day(row['as_of']) <= date and (key not in newest or day(newest[key]['as_of']) < day(row['as_of'])):
            newest[key] = row
    sides = {}
    for row in newest.values():
        read = day(row['as_of'])
        if date >= read.replace(year=read.year + 1):
            continue
        side = row['plan'].split('-')[0]
        of = sides.setdefault(tuple(row[k] for k in ('gpu', 'provider', 'instance', 'region', 'gpus')), {})
        if side not in of or per_gpu(row) < per_gpu(of[side]):
            of[side] = row
    lines = []
    for key, of in sides.items():
        prices = [decimal(per_gpu(of[s])) if s in of else '' for s in ('on', 'spot', 'committed')]
        term = of['committed']['plan'].split('-')[1] if 'committed' in of else ''
        lines.append('|'.join([*key, *prices, term]))
    print('\n'.join(sorted(lines)))


def against(file, folder):
    """Every figure of ours is in the collection, and none of its GPU prices of 2026 is missing."""
    theirs = set()
    for row in csv.DictReader(open(folder + '/gpu-prices.csv', newline='')):
        for plan in ('on_demand', 'spot'):
            price = row[plan + '_usd_per_hour']
            if price and row['kind'] == 'gpu':
                theirs.add((row['provider'], row['region'], row['gpus'], plan.replace('_', '-'), Fraction(price),
                            row['as_of'], row['licence'], row['source']))
    for row in csv.DictReader(open(folder + '/committed-prices.csv', newline='')):
        if row['as_of'].startswith('2026'):
            theirs.add((row['provider'], row['region'], row['gpus'], 'committed-' + row['commitment'][-2:],
                        Fraction(row['usd_per_hour']), row['as_of'], row['licence'], row['source']))
    ours = {(r['provider'], r['region'], r['gpus'], r['plan'], Fraction(r['price_per_hour']), r['as_of'], r['licence'],
             r['source']) for r in rows(file)}
    assert ours == theirs, sorted(map(str, ours ^ theirs))[:5]


{'check': check, 'list': listing, 'egress': egress, 'traffic': traffic, 'against': against}[sys.argv[1]](*sys.argv[2:])
