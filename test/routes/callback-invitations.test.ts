/** Invitations that are taken up by signing in with a provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, proven, type Somebody, unproven } from '../support/external.ts'
import { nextId } from '../support/linking.ts'
import { tokenOf } from '../support/mail-journeys.ts'
import { invite } from '../support/people.ts'

suite('an invitation', () => {
  test('is taken up by a provider', async (t) => {
    const server = await externalServer(t)
    const { fakes } = server

    async function invited(email: string): Promise<string> {
      return tokenOf(await invite(server, email, { data: { team: 'red' } }))
    }

    async function takeUp(invite_token: string, who: Somebody) {
      describe(fakes, 'github', who)
      return server.comeBack(await server.goTo('github', { query: { invite_token } }))
    }

    await t.test('with its address, proven by the mail', async () => {
      const id = nextId()
      const seen = await takeUp(await invited('guest@ex.test'), unproven('guest@ex.test', id))
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
      const invitation = await invited('right@ex.test')
      const seen = await takeUp(invitation, proven('wrong@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'validation_failed')
      const next = await takeUp(invitation, proven('right@ex.test', nextId()))
      assert.ok(next.fragment.access_token)
    })

    await t.test('once', async () => {
      const invitation = await invited('once@ex.test')
      describe(fakes, 'github', proven('once@ex.test', nextId()))
      const start = { query: { invite_token: invitation } }
      const both = [await server.goTo('github', start), await server.goTo('github', start)]
      const codes = []
      for (const params of both) codes.push((await server.comeBack(params)).query.error_code)
      assert.deepEqual(codes, [undefined, 'invite_not_found'])
    })
  })
})
