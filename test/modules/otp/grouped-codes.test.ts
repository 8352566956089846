/** Codes are accepted as users type or paste them: in groups, with blanks or hyphens between them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { userWithTotp } from '../../support/factors/factors.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { bearer, call, changeUser, verify } from '../../support/requests.ts'
import { newAddress, signIn, signUp } from '../../support/users.ts'

/** As apps, emails and keyboards write them. */
const groups = [
  (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
  (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
  (code: string) => ` ${[...code].join('\u00a0')} `,
  (code: string) => `${code.slice(0, 2)}\u2013${code.slice(2)}\n`,
]

suite('a code in groups', () => {
  const serverFor = sharedServers()

  test('of an email is accepted', async () => {
    const server = await serverFor()
    for (const group of groups) {
      const email = newAddress()
      const message = await emailAfter(server, email, () => signUp(server.app, { email }))
      const token = group(codeIn(message))
      const verified = await verify(server.app, { type: 'signup', email, token })
      assert.equal(verified.statusCode, 200, `${token} ${verified.body}`)
    }
  })

  test('of a reauthentication is accepted', async () => {
    const server = await serverFor({
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    })
    const { app } = server
    const email = newAddress()
    const message = await emailAfter(server, email, () => signUp(app, { email }))
    await verify(app, { type: 'signup', email, token: codeIn(message) })
    let password: string | undefined
    for (const [at, group] of groups.entries()) {
      const who = { email, ...(password && { password }) }
      const session: Session = (await signIn(app, who)).json()
      await app.db
        .updateTable('sessions')
        .set({ created_at: new Date(Date.now() - 48 * 3_600_000) })
        .where('user_id', '=', session.user.id)
        .execute()
      const asked = await emailAfter(server, email, () =>
        app.inject({ url: '/reauthenticate', headers: bearer(session) }),
      )
      const next = `a new password ${at}`
      const change = (nonce: string) =>
        changeUser(app, session.access_token, { password: next, nonce })
      const wrong = await change('x')
      assert.notEqual(wrong.statusCode, 200, 'the code is needed')
      const changed = await change(group(codeIn(asked)))
      assert.equal(changed.statusCode, 200, changed.body)
      password = next
    }
  })

  test('of an authenticator app is accepted', async (t) => {
    const { app } = await serverFor({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const { session, factor } = await userWithTotp(app)
    const { access_token: token } = session
    const start = Date.now()
    for (const [at, group] of groups.entries()) {
      t.mock.timers.enable({ apis: ['Date'], now: start + (at + 2) * 60_000 })
      const path = `/factors/${factor.id}`
      const challenge = await call(app, `${path}/challenge`, {}, { token })
      assert.equal(challenge.statusCode, 200, challenge.body)
      const code = group(factor.code())
      const body = { challenge_id: challenge.json().id, code }
      const verified = await call(app, `${path}/verify`, body, { token })
      assert.equal(verified.statusCode, 200, `${code} ${verified.body}`)
      t.mock.timers.reset()
    }
  })
})
