import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createPino } from '../../plugins/logger.ts'
import { build } from '../support/server.ts'

function logged(level: string, write: (log: ReturnType<typeof createPino>) => void): string[] {
  const lines: string[] = []
  write(createPino(level, { write: (line: string) => void lines.push(line) }))
  return lines
}

suite('the log', () => {
  const levels: [string, number][] = [
    ['panic', 1],
    ['fatal', 1],
    ['error', 2],
    ['warn', 3],
    ['info', 4],
    ['debug', 5],
  ]
  for (const [level, count] of levels) {
    test(`at ${level}, ${count} of five kinds of lines are written`, () => {
      const lines = logged(level, (log) => {
        for (const name of ['fatal', 'error', 'warn', 'info', 'debug'] as const) log[name](name)
      })
      assert.equal(lines.length, count)
    })
  }

  test('what looks like a secret is not written, one level down either', () => {
    const [line = ''] = logged('info', (log) => {
      log.info({ password: 'p1', user: { email: 'a@example.com', refresh_token: 'r1' } }, 'x')
    })
    assert.doesNotMatch(line, /p1|a@example|r1/)
    assert.match(line, /\[redacted\]/)
  })

  test('an error is told without the values a database repeats', () => {
    const error = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(a@example.com) already exists.',
    })
    const [line = ''] = logged('info', (log) => log.error({ err: error }, 'x'))
    assert.match(line, /23505/)
    assert.doesNotMatch(line, /a@example/)
  })

  test('one line a request: id, method, route, status, time, and nothing of the URL', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { lines })
    const answer = await app.inject({ url: '/verify?type=signup&token=secret-token' })
    const line = lines.map((one) => JSON.parse(one)).find(({ route }) => route === '/verify')
    const { reqId, method, status, ms } = line
    assert.equal(reqId, answer.headers['x-request-id'])
    assert.deepEqual({ method, status }, { method: 'GET', status: answer.statusCode })
    assert.equal(typeof ms, 'number')
    assert.ok(!lines.join('').includes('secret-token'))
  })
})
