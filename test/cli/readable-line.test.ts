import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { readableLine } from '../../cli/dev/readable-line.ts'

const time = '2026-11-30T09:00:00.000Z'
const version = '1.0.0'

suite('log lines of the development server', () => {
  const lines: Record<string, [line: object, words: string]> = {
    'a request': [
      {
        level: 'info',
        msg: 'request completed',
        method: 'GET',
        route: '/user',
        status: 200,
        ms: 3,
      },
      'info  GET /user 200 3 ms',
    ],
    'a message with fields': [
      { level: 'warn', msg: 'slow', statements: 3, detail: { a: 1 } },
      'warn  slow statements=3 detail={"a":1}',
    ],
    'an error with its stack': [
      { level: 'error', msg: 'failed', err: { type: 'Error', stack: 'Error: no\n    at x' } },
      'error failed\n    Error: no\n        at x',
    ],
    'control characters of a client': [
      { level: 'warn', msg: 'a\u001b[2Jb\nc' },
      'warn  a\\u001b[2Jb\\nc',
    ],
  }
  for (const [what, [line, words]] of Object.entries(lines)) {
    test(`show ${what}`, () => {
      const written = readableLine(JSON.stringify({ time, version, request_id: 'x', ...line }))
      assert.match(written, /^\d\d:\d\d:\d\d /)
      assert.equal(written.slice(9), `${words}\n`)
    })
  }
})
