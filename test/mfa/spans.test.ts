/** Traces of second factors: what is in them, and what is not. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { startCollector } from '../support/collector.ts'
import { codeOf } from '../support/factors.ts'
import { newAddress, password } from '../support/people.ts'
import { startServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'

suite('traces of second factors', () => {
  test('neither the secret nor a code is in a span', async (t) => {
    const collector = await startCollector(t)
    const { url } = await startServerProcess(t, {
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_TRACING_ENABLED: 'true',
      AUTH_TRACING_EXPORTER: 'opentelemetry',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    })
    const post = async (path: string, body: object, token = '') => {
      const headers = {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(url + path, init)
      assert.equal(response.status, 200, path)
      return Object(await response.json())
    }
    const { access_token } = await post('/signup', { email: newAddress(), password })
    const { id, totp } = await post('/factors', { factor_type: 'totp' }, access_token)
    const challenge = await post(`/factors/${id}/challenge`, {}, access_token)
    const code = codeOf(totp.secret)
    await post(`/factors/${id}/verify`, { challenge_id: challenge.id, code }, access_token)

    await until(() => collector.spans().some(({ name }) => name.endsWith('/verify')))
    const everything = collector.received.map(({ body }) => body.toString()).join('\n')
    for (const kept of [totp.secret, code, id]) assert.ok(!everything.includes(kept))
  })
})
