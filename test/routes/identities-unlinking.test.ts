/** A person takes a way to sign in away. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, proven, unproven } from '../support/external.ts'
import { addTotp, prove } from '../support/factors.ts'
import { identityId, link, nextId, unlink, userOf } from '../support/linking.ts'
import {
  confirmedPerson,
  createdPerson,
  newAddress,
  newNumber,
  password,
  signedIn,
  signIn,
} from '../support/people.ts'

suite('unlinking', () => {
  test('by a person who is signed in', async (t) => {
    const env = { AUTH_MAILER_NOTIFICATIONS_IDENTITY_UNLINKED_ENABLED: 'true' }
    const server = await externalServer(t, { env })

    await t.test('refuses what is no id, unknown, or the only one', async () => {
      const ann = await confirmedPerson(server, 'ann@ex.test')
      const refusals: [string, number, string][] = [
        ['x', 404, 'validation_failed'],
        [crypto.randomUUID(), 422, 'single_identity_not_deletable'],
      ]
      for (const [id, status, code] of refusals) {
        const response = await unlink(server, ann, id)
        assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
      }
      await link(server, ann, 'github', proven('ann@ex.test', nextId()))
      const other = await confirmedPerson(server, 'other@ex.test')
      const foreign = identityId(await userOf(server, other), 'email')
      const response = await unlink(server, ann, foreign)
      assert.equal(response.json().error_code, 'identity_not_found')
    })

    await t.test(
      'refuses to take address or number at aal1, where a second factor is owed',
      async () => {
        const who = { email: newAddress(), phone: newNumber(), password }
        const proven = { email_confirm: true, phone_confirm: true }
        await createdPerson(server.app, { ...who, ...proven })
        const session = await signedIn(server.app, who.email)
        await prove(server.app, session, await addTotp(server.app, session))
        const low = await signedIn(server.app, who.email)
        for (const provider of ['phone', 'email']) {
          const response = await unlink(
            server,
            low,
            identityId(await userOf(server, low), provider),
          )
          assert.equal(response.json().error_code, 'insufficient_aal', provider)
        }
      },
    )

    await t.test('keeps the address that another identity has', async () => {
      const bob = await confirmedPerson(server, 'bob@ex.test')
      await link(server, bob, 'github', proven('bob@ex.test', nextId()))
      // The Swift client spells ids in capitals.
      const id = identityId(await userOf(server, bob), 'github').toUpperCase()
      const response = await unlink(server, bob, id)
      assert.deepEqual(response.json(), {})
      const user = await userOf(server, bob)
      assert.equal(user.email, 'bob@ex.test')
      assert.deepEqual(user.app_metadata.providers, ['email'])
      assert.ok((await server.auditActions(user.id)).includes('identity_unlinked'))
      await server.mail.waitFor(({ to, mail }) => {
        return to === 'bob@ex.test' && /removed/.test(mail.subject ?? '')
      })
    })

    await t.test('makes another proven address the one of the account', async () => {
      const carl = await confirmedPerson(server, 'carl@ex.test')
      await link(server, carl, 'gitlab', unproven('unproven-carl@ex.test', nextId()))
      await link(server, carl, 'github', proven('carl2@ex.test', nextId()))
      await unlink(server, carl, identityId(await userOf(server, carl), 'email'))
      const user = await userOf(server, carl)
      assert.equal(user.email, 'carl2@ex.test')
      assert.ok(user.email_confirmed_at)
      assert.equal((await signIn(server.app, { email: 'carl2@ex.test' })).statusCode, 200)
    })

    await t.test('an unproven one has to be proven again', async () => {
      const dora = await confirmedPerson(server, 'dora@ex.test')
      await link(server, dora, 'github', unproven('dora2@ex.test', nextId()))
      await unlink(server, dora, identityId(await userOf(server, dora), 'email'))
      const user = await userOf(server, dora)
      assert.equal(user.email, 'dora2@ex.test')
      assert.equal(user.email_confirmed_at, undefined)
      assert.equal(user.user_metadata.email_verified, false)
    })

    await t.test('not when somebody else has the only other address', async () => {
      await confirmedPerson(server, 'taken@ex.test')
      const eve = await confirmedPerson(server, 'eve@ex.test')
      await link(server, eve, 'github', unproven('taken@ex.test', nextId()))
      const before = await userOf(server, eve)
      const response = await unlink(server, eve, identityId(before, 'email'))
      assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
      assert.deepEqual(await userOf(server, eve), before)
    })

    await t.test('nor when somebody of another audience has it', async () => {
      for (const describe of [proven, unproven]) {
        const dora = await confirmedPerson(server, newAddress('dora'))
        const wanted = newAddress('wanted')
        await createdPerson(server.app, { email: wanted, email_confirm: true, aud: 'other' })
        await link(server, dora, 'github', describe(wanted, nextId()))
        const response = await unlink(server, dora, identityId(await userOf(server, dora), 'email'))
        assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
      }
    })

    await t.test('of two at once, one stays', async () => {
      const finn = await confirmedPerson(server, 'finn@ex.test')
      await link(server, finn, 'github', proven('finn@ex.test', nextId()))
      const { identities } = await userOf(server, finn)
      const ids = identities?.map(({ identity_id }) => identity_id) ?? []
      const responses = await Promise.all(ids.map((id) => unlink(server, finn, id)))
      assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, 422])
      assert.equal((await userOf(server, finn)).identities?.length, 1)
    })
  })
})
