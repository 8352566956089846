import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { catalogue } from '../../bench/catalogue.ts'
import type { Figures } from '../../bench/measure.ts'
import { readOptions } from '../../bench/options.ts'
import { remarks, tableRows } from '../../bench/report.ts'

const figures: Figures = {
  side: 'first',
  requests: 3000,
  perSecond: 3000,
  p50: 2,
  p95: 4,
  p99: 8,
  serverCpu: 0.2,
  postgresCpu: undefined,
  loopDelay: 3,
  generatorCpu: 0.1,
  residentMib: 100,
  errors: {},
}

suite('the report', () => {
  test('shows both sides and their quotient, first by second', () => {
    const second = { ...figures, side: 'second', perSecond: 1000, serverCpu: 0.4 }
    assert.deepEqual(tableRows('get-user', [figures, second]).split('\n'), [
      '| get-user | first | 3,000 | 2.00 | 4.00 | 8.00 | 0.200 | - | - | 3.00 | 100 | 0 |',
      '| get-user | second | 1,000 | 2.00 | 4.00 | 8.00 | 0.400 | - | - | 3.00 | 100 | 0 |',
      '| get-user | **ratio** | 3.00 | 1.00 | 1.00 | 1.00 | 0.50 | - | - | 1.00 | 1.00 |  |',
    ])
  })

  test('tells the cost of each side in floors, and divides the first by each other one', () => {
    const cost = (side: string, serverCpu: number) => ({
      ...figures,
      side,
      serverCpu,
      postgresCpu: 0.1,
    })
    const sides = [cost('server', 0.3), cost('beside', 0.7), cost('telemetry', 0.5)]
    const rows = tableRows('get-user', sides, cost('floor', 0.1)).split('\n')
    const cells = rows.map((line) => line.split(' | '))
    assert.deepEqual(
      cells.map((line) => [line[1], line[8]]),
      [
        ['server', '2.00'],
        ['beside', '4.00'],
        ['telemetry', '3.00'],
        ['floor', '1.00'],
        ['**by beside**', '0.50'],
        ['**by telemetry**', '0.67'],
      ],
    )
  })

  test('says why a scenario is missing, and makes no quotient of it', () => {
    const rows = tableRows('recover', [figures, { side: 'second', skipped: '404 not_found' }])
    assert.match(rows, /\| recover \| second \| skipped: 404 not_found \|/)
    assert.doesNotMatch(rows, /ratio/)
  })

  test('names failures and a generator at its limit', () => {
    const busy = { ...figures, generatorCpu: 0.3, errors: { ECONNRESET: 2 } }
    assert.deepEqual(remarks('get-user', [figures]), [])
    assert.deepEqual(remarks('get-user', [busy]), [
      'get-user, first: 2 x ECONNRESET',
      'get-user, first: the generator used 0.90 of a core, so the server may do more',
    ])
  })
})

suite('the command line', () => {
  test('names scenarios by option or bare', () => {
    const names = (args: string[]) => readOptions(args).scenarios.map(({ name }) => name)
    assert.deepEqual(
      names([]),
      catalogue.map(({ name }) => name),
    )
    assert.deepEqual(names(['--scenario', 'refresh,get-user']), ['get-user', 'refresh'])
    assert.deepEqual(names(['enumeration']), [])
    assert.equal(readOptions(['enumeration']).enumeration, true)
  })

  test('asks all questions of enumeration, or those that are named', () => {
    const names = (args: string[]) => readOptions(args).questions.map(({ name }) => name)
    assert.equal(names(['enumeration']).length, 8)
    assert.deepEqual(names(['enumeration', '--question', 'sign-in,verify']), ['verify', 'sign-in'])
    assert.equal(readOptions(['enumeration', '--pairs', '2000']).pairs, 2000)
  })

  const mistakes: Record<string, [args: string[], message: RegExp]> = {
    'an unknown scenario': [['--scenario', 'login'], /no scenario login/],
    'an unknown question': [['enumeration', '--question', 'login'], /no question login/],
    'an unknown option': [['--second', '5'], /--second/],
    'a time of nothing': [['--seconds', '0'], /--seconds must be a number above 0/],
    'a variable without a value': [['--set', 'PORT'], /--set takes NAME=VALUE/],
    'a word for a number': [['--connections', 'many'], /--connections must be/],
  }
  for (const [mistake, [args, message]] of Object.entries(mistakes)) {
    test(`${mistake} is refused by name`, () => assert.throws(() => readOptions(args), message))
  }
})
