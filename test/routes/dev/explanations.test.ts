/** Explanations in development where production responds without detail. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient } from '@supabase/supabase-js'

import { query } from '../../db/sql.ts'
import { untilRows } from '../../support/processes/until.ts'
import { build } from '../../support/server.ts'
import { newAddress, password } from '../../support/users.ts'

const signUp = (email: string) => ({
  method: 'POST' as const,
  url: '/signup',
  payload: { email, password },
})

suite('development log and SDK errors', () => {
  for (const dev of [true, false]) {
    test(`${dev ? 'logs' : 'does not log'} why a sign-up had no effect ${dev ? 'in' : 'outside'} development`, async (t) => {
      const lines: string[] = []
      const { app, database } = await build(t, { dev, lines })
      const email = newAddress()
      assert.equal((await app.inject(signUp(email))).statusCode, 200)
      await query(database.url, 'update auth.users set email_confirmed_at = now()')
      assert.equal((await app.inject(signUp(email))).statusCode, 200)
      assert.equal(
        lines.some((line) => line.includes('sign-up ignored')),
        dev,
      )
      assert.doesNotMatch(lines.join(), new RegExp(email))
    })
  }

  test('logs why a request sent no email', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { dev: true, lines })
    const payload = { email: newAddress() }
    const { statusCode } = await app.inject({ method: 'POST', url: '/recover', payload })
    assert.equal(statusCode, 200)
    const reported = await untilRows(async () =>
      lines.filter((line) => line.includes('no email sent')),
    )
    assert.match(reported[0] ?? '', /"kind":"recovery"/)
  })

  test('reports to the SDK where tables and files are served', async (t) => {
    const { app } = await build(t, { dev: true })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const supabase = createClient(url, 'anon')
    const { error } = await supabase.from('notes').select()
    assert.match(error?.message ?? '', /PostgREST.*docker compose --profile rest up/)
    const files = await supabase.storage.listBuckets()
    assert.match(files.error?.message ?? '', /This server provides authentication only/)
  })
})
