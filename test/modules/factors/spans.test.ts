/** Contents of spans of factor requests. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { totpCode } from '../../support/factors/factors.ts'
import { startServerProcess } from '../../support/processes/server-process.ts'
import { until } from '../../support/processes/until.ts'
import { startCollector } from '../../support/runner/collector.ts'
import { newAddress, password } from '../../support/users.ts'

suite('spans of factor requests', () => {
  test('contain neither secret nor code', async (t) => {
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
    const code = totpCode(totp.secret)
    await post(`/factors/${id}/verify`, { challenge_id: challenge.id, code }, access_token)

    await until(() => collector.spans().some(({ name }) => name.endsWith('/verify')))
    const everything = collector.received.map(({ body }) => body.toString()).join('\n')
    for (const secret of [totp.secret, code]) assert.ok(!everything.includes(secret))
  })
})
