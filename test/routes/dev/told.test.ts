/** What development says where production is silent or brief. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient } from '@supabase/supabase-js'

import { query } from '../../db/sql.ts'
import { newAddress, password } from '../../support/people.ts'
import { build } from '../../support/server.ts'
import { untilRows } from '../../support/until.ts'

const signUp = (email: string) => ({
  method: 'POST' as const,
  url: '/signup',
  payload: { email, password },
})

suite('told in development', () => {
  for (const dev of [true, false]) {
    test(`a sign-up that comes to nothing, ${dev ? 'in' : 'and not outside'} development`, async (t) => {
      const lines: string[] = []
      const { app, database } = await build(t, { dev, lines })
      const email = newAddress()
      assert.equal((await app.inject(signUp(email))).statusCode, 200)
      await query(database.url, 'update auth.users set email_confirmed_at = now()')
      assert.equal((await app.inject(signUp(email))).statusCode, 200)
      assert.equal(
        lines.some((line) => line.includes('a sign-up came to nothing')),
        dev,
      )
      assert.doesNotMatch(lines.join(), new RegExp(email))
    })
  }

  test('a request for a mail that comes to none', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { dev: true, lines })
    const payload = { email: newAddress() }
    const { statusCode } = await app.inject({ method: 'POST', url: '/recover', payload })
    assert.equal(statusCode, 200)
    const told = await untilRows(async () =>
      lines.filter((line) => line.includes('a request for a mail came to none')),
    )
    assert.match(told[0] ?? '', /"kind":"recovery"/)
  })

  test('the full SDK hears where tables and files are', async (t) => {
    const { app } = await build(t, { dev: true })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const supabase = createClient(url, 'anon')
    const { error } = await supabase.from('notes').select()
    assert.match(error?.message ?? '', /PostgREST.*docker compose --profile rest up/)
    const files = await supabase.storage.listBuckets()
    assert.match(files.error?.message ?? '', /This server is for accounts and sessions/)
  })
})
