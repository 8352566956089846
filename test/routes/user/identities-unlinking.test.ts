/** Users unlink identities. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { addTotp, stepUp } from '../../support/factors/factors.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import {
  adminCreatedUser,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signedIn,
  signIn,
} from '../../support/users.ts'

suite('DELETE /user/identities/{id}', () => {
  test('unlinks identities of the current user', async (t) => {
    const env = { AUTH_MAILER_NOTIFICATIONS_IDENTITY_UNLINKED_ENABLED: 'true' }
    const server = await externalServer(t, { env })

    await t.test('rejects malformed and unknown ids and the last identity', async () => {
      const ann = await confirmedUser(server, 'ann@ex.test')
      const rejections: [string, number, string][] = [
        ['x', 404, 'validation_failed'],
        [crypto.randomUUID(), 422, 'single_identity_not_deletable'],
      ]
      for (const [id, status, code] of rejections) {
        const response = await unlink(server, ann, id)
        assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
      }
      await link(server, ann, 'github', verifiedProfile('ann@ex.test', nextId()))
      const other = await confirmedUser(server, 'other@ex.test')
      const foreign = identityId(await fetchUser(server, other), 'email')
      const response = await unlink(server, ann, foreign)
      assert.equal(response.json().error_code, 'identity_not_found')
    })

    await t.test('requires aal2 to unlink email or phone when the user has a factor', async () => {
      const who = { email: newAddress(), phone: newNumber(), password }
      const verified = { email_confirm: true, phone_confirm: true }
      await adminCreatedUser(server.app, { ...who, ...verified })
      const session = await signedIn(server.app, who.email)
      await stepUp(server.app, session, await addTotp(server.app, session))
      const aal1 = await signedIn(server.app, who.email)
      for (const provider of ['phone', 'email']) {
        const response = await unlink(
          server,
          aal1,
          identityId(await fetchUser(server, aal1), provider),
        )
        assert.equal(response.json().error_code, 'insufficient_aal', provider)
      }
    })

    await t.test('keeps an email that another identity has', async () => {
      const bob = await confirmedUser(server, 'bob@ex.test')
      await link(server, bob, 'github', verifiedProfile('bob@ex.test', nextId()))
      // The Swift client spells ids in capitals.
      const id = identityId(await fetchUser(server, bob), 'github').toUpperCase()
      const response = await unlink(server, bob, id)
      assert.deepEqual(response.json(), {})
      const user = await fetchUser(server, bob)
      assert.equal(user.email, 'bob@ex.test')
      assert.deepEqual(user.app_metadata.providers, ['email'])
      assert.ok((await server.auditActions(user.id)).includes('identity_unlinked'))
      await server.mail.waitFor(({ to, mail }) => {
        return to === 'bob@ex.test' && /removed/.test(mail.subject ?? '')
      })
    })

    await t.test('makes another verified email the email of the account', async () => {
      const carl = await confirmedUser(server, 'carl@ex.test')
      await link(server, carl, 'gitlab', unverifiedProfile('unverified-carl@ex.test', nextId()))
      await link(server, carl, 'github', verifiedProfile('carl2@ex.test', nextId()))
      await unlink(server, carl, identityId(await fetchUser(server, carl), 'email'))
      const user = await fetchUser(server, carl)
      assert.equal(user.email, 'carl2@ex.test')
      assert.ok(user.email_confirmed_at)
      assert.equal((await signIn(server.app, { email: 'carl2@ex.test' })).statusCode, 200)
    })

    await t.test('marks the remaining email as unverified', async () => {
      const dora = await confirmedUser(server, 'dora@ex.test')
      await link(server, dora, 'github', unverifiedProfile('dora2@ex.test', nextId()))
      await unlink(server, dora, identityId(await fetchUser(server, dora), 'email'))
      const user = await fetchUser(server, dora)
      assert.equal(user.email, 'dora2@ex.test')
      assert.equal(user.email_confirmed_at, undefined)
      assert.equal(user.user_metadata.email_verified, false)
    })

    await t.test('rejects when the only other email belongs to another user', async () => {
      await confirmedUser(server, 'taken@ex.test')
      const eve = await confirmedUser(server, 'eve@ex.test')
      await link(server, eve, 'github', unverifiedProfile('taken@ex.test', nextId()))
      const before = await fetchUser(server, eve)
      const response = await unlink(server, eve, identityId(before, 'email'))
      assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
      assert.deepEqual(await fetchUser(server, eve), before)
    })

    await t.test(
      'rejects when the only other email belongs to a user of another audience',
      async () => {
        for (const describe of [verifiedProfile, unverifiedProfile]) {
          const dora = await confirmedUser(server, newAddress('dora'))
          const newValue = newAddress('wanted')
          await adminCreatedUser(server.app, { email: newValue, email_confirm: true, aud: 'other' })
          await link(server, dora, 'github', describe(newValue, nextId()))
          const response = await unlink(
            server,
            dora,
            identityId(await fetchUser(server, dora), 'email'),
          )
          assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
        }
      },
    )

    await t.test('keeps one identity when two requests race', async () => {
      const finn = await confirmedUser(server, 'finn@ex.test')
      await link(server, finn, 'github', verifiedProfile('finn@ex.test', nextId()))
      const { identities } = await fetchUser(server, finn)
      const ids = identities?.map(({ identity_id }) => identity_id) ?? []
      const responses = await Promise.all(ids.map((id) => unlink(server, finn, id)))
      assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, 422])
      assert.equal((await fetchUser(server, finn)).identities?.length, 1)
    })
  })
})
