import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import fc from 'fast-check'

import { formatDuration, parseDuration } from '../../schemas/values/duration.ts'
import { endsInTime } from '../support/runner/bounded.ts'
import { read } from './environment.ts'

const right: [string, number][] = [
  ['0', 0],
  ['-0', 0],
  ['90', 90],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['-2', -2],
  ['+3', 3],
  ['15m', 900],
  ['1h30m', 5400],
  ['1.5h', 5400],
  ['-1.5h', -5400],
  ['+10s', 10],
  ['.5s', 0.5],
  ['1.s', 1],
  ['500ms', 0.5],
  ['100us', 1e-4],
  ['100µs', 1e-4],
  ['100μs', 1e-4],
  ['5ns', 5e-9],
  ['1m1m', 120],
  ['30s1h', 3630],
  ['87600h', 315_360_000],
  ['7d', 604_800],
  ['1d12h', 129_600],
  ['2w', 1_209_600],
  ['10y', 315_360_000],
]

const wrong = [
  '',
  ' ',
  's',
  '-',
  '.',
  '.s',
  '1D',
  '1mo',
  '1H',
  '1 h',
  ' 1h',
  '1h ',
  '1h30',
  '30 m',
  '1h-30m',
  '--1h',
  '1e3',
  '1e3s',
  '0x10',
  'Infinity',
  'NaN',
  'none',
  '1,5h',
  '１h',
  '9999999h',
  '9999999999999999999',
]

suite('parseDuration, formatDuration', () => {
  for (const [text, seconds] of right) {
    test(`parses "${text}" as ${seconds} seconds`, () => {
      assert.ok(Math.abs(parseDuration(text) - seconds) < 1e-12)
      assert.ok(!Object.is(parseDuration(text), -0))
    })
  }

  for (const text of wrong) {
    test(`rejects "${text}"`, () => {
      assert.throws(() => parseDuration(text), RangeError)
    })
  }

  test('rejects a long text in linear time', () =>
    endsInTime(() => {
      assert.throws(() => parseDuration(`${'1'.repeat(200_000)}x`), RangeError)
      assert.throws(() => parseDuration(`${'1h'.repeat(100_000)}x`), RangeError)
    }))

  test('parses the durations that it formats', () => {
    const seconds = fc.integer({ min: -10_000_000_000, max: 10_000_000_000 })
    fc.assert(
      fc.property(seconds, (thousandths) => {
        const value = thousandths / 1000
        assert.ok(Math.abs(parseDuration(formatDuration(value)) - value) < 1e-6)
      }),
    )
  })

  test('formats seconds with units', () => {
    const table: [number, string][] = [
      [0, '0s'],
      [60, '1m'],
      [90, '1m30s'],
      [86_400, '24h'],
      [0.25, '0.25s'],
      [-3600, '-1h'],
    ]
    for (const [seconds, text] of table) assert.equal(formatDuration(seconds), text)
  })
})

suite('durations used as timers', () => {
  const names = [
    'AUTH_API_MAX_REQUEST_DURATION',
    'AUTH_INTERNAL_HTTP_TIMEOUT',
    'AUTH_SECURITY_CAPTCHA_TIMEOUT',
    'AUTH_DB_CONN_MAX_LIFETIME',
    'AUTH_DB_CONN_MAX_IDLE_TIME',
  ] as const
  for (const name of names) {
    test(`${name} is limited to Node’s maximum timer`, () => {
      const { config } = read({ [name]: '30d' })
      assert.ok(config[name] * 1000 < 2 ** 31)
      assert.ok(config[name] > 24 * 86_400)
    })
  }

  test('other durations are not limited', () => {
    assert.equal(read({ AUTH_AUDIT_RETENTION: '400d' }).config.AUTH_AUDIT_RETENTION, 400 * 86_400)
  })
})
