import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { catalogue } from '../../bench/catalogue.ts'
import type { Figures } from '../../bench/measure.ts'
import { readOptions } from '../../bench/options.ts'
import { listNotes, tableRows } from '../../bench/report.ts'

const figures: Figures = {
  variant: 'first',
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

suite('benchmark report', () => {
  test('shows both variants and their ratio', () => {
    const second = { ...figures, variant: 'second', perSecond: 1000, serverCpu: 0.4 }
    assert.deepEqual(tableRows('get-user', [figures, second]).split('\n'), [
      '| get-user | first | 3,000 | 2.00 | 4.00 | 8.00 | 0.200 | - | - | 3.00 | 100 | 0 |',
      '| get-user | second | 1,000 | 2.00 | 4.00 | 8.00 | 0.400 | - | - | 3.00 | 100 | 0 |',
      '| get-user | **ratio** | 3.00 | 1.00 | 1.00 | 1.00 | 0.50 | - | - | 1.00 | 1.00 |  |',
    ])
  })

  test('shows costs relative to the baseline, and ratios to the first variant', () => {
    const cost = (variant: string, serverCpu: number) => ({
      ...figures,
      variant,
      serverCpu,
      postgresCpu: 0.1,
    })
    const variants = [cost('server', 0.3), cost('beside', 0.7), cost('telemetry', 0.5)]
    const rows = tableRows('get-user', variants, cost('floor', 0.1)).split('\n')
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

  test('names the reason of a skipped scenario and shows no ratio', () => {
    const rows = tableRows('recover', [figures, { variant: 'second', skipped: '404 not_found' }])
    assert.match(rows, /\| recover \| second \| skipped: 404 not_found \|/)
    assert.doesNotMatch(rows, /ratio/)
  })

  test('reports failures and a saturated generator', () => {
    const busy = { ...figures, generatorCpu: 0.3, errors: { ECONNRESET: 2 } }
    assert.deepEqual(listNotes('get-user', [figures]), [])
    assert.deepEqual(listNotes('get-user', [busy]), [
      'get-user, first: 2 x ECONNRESET',
      'get-user, first: the generator used 0.90 of a core, so the server may be faster',
    ])
  })
})

suite('bench CLI', () => {
  test('selects scenarios by option or argument', () => {
    const names = (args: string[]) => readOptions(args).scenarios.map(({ name }) => name)
    assert.deepEqual(
      names([]),
      catalogue.flatMap(({ name, isOptional }) => (isOptional ? [] : [name])),
    )
    assert.deepEqual(names(['--scenario', 'refresh,get-user']), ['get-user', 'refresh'])
    assert.deepEqual(names(['organizations-refresh']), ['organizations-refresh'])
    assert.deepEqual(names(['enumeration']), [])
    assert.equal(readOptions(['enumeration']).enumeration, true)
  })

  test('selects all enumeration questions, or the named ones', () => {
    const names = (args: string[]) => readOptions(args).questions.map(({ name }) => name)
    assert.equal(names(['enumeration']).length, 10)
    assert.deepEqual(names(['enumeration', '--question', 'sign-in,verify']), ['verify', 'sign-in'])
    assert.equal(readOptions(['enumeration', '--pairs', '2000']).pairs, 2000)
  })

  const invalidCases: Record<string, [args: string[], message: RegExp]> = {
    'an unknown scenario': [['--scenario', 'login'], /Unknown scenario login/],
    'an unknown question': [['enumeration', '--question', 'login'], /Unknown question login/],
    'an unknown option': [['--second', '5'], /--second/],
    'a duration of zero': [['--seconds', '0'], /--seconds must be a number above 0/],
    'a variable without a value': [['--set', 'PORT'], /--set takes NAME=VALUE/],
    'a word instead of a number': [['--connections', 'many'], /--connections must be/],
  }
  for (const [invalid, [args, message]] of Object.entries(invalidCases)) {
    test(`rejects ${invalid} by name`, () => assert.throws(() => readOptions(args), message))
  }
})
