/**
 * supabase.from() against a development server: no tables are served, and CORS lets the browser read the explanation.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient } from '@supabase/supabase-js'

import { build } from '../../support/server.ts'

suite('supabase.from() in development', () => {
  test('allows the headers of the SDK and explains where tables are served', async (t) => {
    const { app } = await build(t, { dev: true })
    const seen: { method: string; headers: string[] }[] = []
    const client = createClient('http://postern.example', 'anon', {
      auth: { persistSession: false, autoRefreshToken: false },
      global: {
        fetch: async (_input, init) => {
          seen.push({
            method: init?.method ?? 'GET',
            headers: [...new Headers(init?.headers).keys()],
          })
          return new Response('[]', { headers: { 'content-type': 'application/json' } })
        },
      },
    })
    await client.from('todos').select('*', { count: 'exact' }).range(0, 9)
    await client.from('todos').insert({ title: 'one' }).select()
    await client.from('todos').update({ title: 'two' }).eq('id', 1)
    await client.from('todos').delete().eq('id', 1)
    assert.deepEqual(
      seen.map(({ method }) => method),
      ['GET', 'POST', 'PATCH', 'DELETE'],
    )
    assert.ok(seen.some(({ headers }) => headers.includes('prefer')))

    for (const { method, headers } of seen) {
      const preflight = await app.inject({
        method: 'OPTIONS',
        url: '/rest/v1/todos',
        headers: {
          origin: 'http://localhost:3000',
          'access-control-request-method': method,
          'access-control-request-headers': headers.join(','),
        },
      })
      const allowed = String(preflight.headers['access-control-allow-headers']).toLowerCase()
      const missing = headers.filter((name) => !allowed.split(/,\s*/).includes(name))
      assert.deepEqual(missing, [], method)
      assert.match(String(preflight.headers['access-control-allow-methods']), new RegExp(method))
    }
    const response = await app.inject({
      url: '/rest/v1/todos',
      headers: { origin: 'http://localhost:3000' },
    })
    assert.equal(response.headers['access-control-allow-origin'], '*')
    assert.match(response.json().message, /PostgREST/)
  })

  test('does not allow the headers of table requests outside development', async (t) => {
    const { app } = await build(t)
    const { headers } = await app.inject({
      method: 'OPTIONS',
      url: '/user',
      headers: { origin: 'http://a.example', 'access-control-request-method': 'GET' },
    })
    assert.doesNotMatch(String(headers['access-control-allow-headers']), /profile|prefer/i)
  })
})
