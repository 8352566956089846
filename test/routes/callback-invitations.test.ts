/** Invitations that are taken up by signing in with a provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, type Somebody } from '../support/external.ts'
import { proven, unproven } from '../support/external-accounts.ts'
import { nextId } from '../support/linking.ts'
import { linkIn } from '../support/mail-links.ts'

suite('an invitation', () => {
  test('is taken up by a provider', async (t) => {
    const server = await externalServer(t)
    const { app, mail, fakes } = server
    const token = await app.jwt.signApiToken({ role: 'service_role', seconds: 60 }, new Date())

    async function invite(email: string): Promise<string> {
      const headers = { authorization: `Bearer ${token}` }
      const payload = { email, data: { team: 'red' } }
      const response = await app.inject({ method: 'POST', url: '/invite', headers, payload })
      assert.equal(response.statusCode, 200, response.body)
      return new URL(linkIn(await mail.waitFor(email))).searchParams.get('token') ?? ''
    }

    async function takeUp(invite_token: string, who: Somebody) {
      describe(fakes, 'github', who)
      return server.comeBack(await server.goTo('github', { query: { invite_token } }))
    }

    await t.test('with its address, proven by the mail', async () => {
      const id = nextId()
      const seen = await takeUp(await invite('guest@ex.test'), unproven('guest@ex.test', id))
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const user = await server.personWith({ provider: 'github', id })
      assert.equal(user?.email, 'guest@ex.test')
      assert.ok(user?.email_confirmed_at)
      assert.deepEqual(
        user.identities.map(({ provider }) => provider),
        ['github'],
      )
      assert.ok((await server.auditActions(user.id)).includes('invite_accepted'))
    })

    await t.test('not with another address; the invitation is still good', async () => {
      const invitation = await invite('right@ex.test')
      const seen = await takeUp(invitation, proven('wrong@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'validation_failed')
      const next = await takeUp(invitation, proven('right@ex.test', nextId()))
      assert.ok(next.fragment.access_token)
    })

    await t.test('once', async () => {
      const invitation = await invite('once@ex.test')
      describe(fakes, 'github', proven('once@ex.test', nextId()))
      const start = { query: { invite_token: invitation } }
      const both = [await server.goTo('github', start), await server.goTo('github', start)]
      const codes = []
      for (const params of both) codes.push((await server.comeBack(params)).query.error_code)
      assert.deepEqual(codes, [undefined, 'invite_not_found'])
    })
  })
})
