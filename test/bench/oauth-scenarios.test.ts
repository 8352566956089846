/** The scenarios of the OAuth server against this server, as a run prepares and sends them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createTarget } from '../../bench/core/target.ts'
import { oauthCodeExchange } from '../../bench/scenarios/oauth-code-exchange.ts'
import { oauthRefresh } from '../../bench/scenarios/oauth-refresh.ts'
import { oauthUserinfo } from '../../bench/scenarios/oauth-userinfo.ts'
import { ownConsentPage } from '../support/oauth-server.ts'
import { build } from '../support/server.ts'
import { adminToken } from '../support/users.ts'

suite('scenarios of the OAuth server', () => {
  for (const scenario of [oauthUserinfo, oauthRefresh, oauthCodeExchange]) {
    test(`${scenario.name} succeeds twice on every connection`, async (t) => {
      const { app } = await build(t, { env: ownConsentPage })
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      const serviceRole = await adminToken(app)
      const target = createTarget({ name: 'postern', url, connections: 2, serviceRole })
      t.after(() => target.close())
      const load = await scenario.prepare(target, { connections: 2, stock: 4 })
      for (let i = 0; i < 4; i++) {
        const answer = await target.send(load.request(i, i % 2))
        assert.equal(answer.status, 200, answer.body)
        load.answered?.(answer.body, i % 2)
      }
    })
  }
})
