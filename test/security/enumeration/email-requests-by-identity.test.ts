/** An anonymous user links an identity with an unverified email to learn whether it has an account. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ExternalServer, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { fetchUser, link, nextId } from '../../support/linking.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { adminCreatedUser, anonymousUser, newAddress } from '../../support/users.ts'

const owners: Record<string, (server: ExternalServer, email: string) => Promise<unknown>> = {
  'by an admin': ({ app }, email) => adminCreatedUser(app, { email, email_confirm: true }),
  'by a provider': (server, email) => server.signInWith('gitlab', verifiedProfile(email, nextId())),
}

/** The response and the user’s own data without values that differ per user. */
async function requestFor(server: ExternalServer, email: string) {
  const guest = await anonymousUser(server.app)
  const { query } = await link(server, guest, 'github', unverifiedProfile(email, nextId()))
  const { new_email, email: own, is_anonymous, identities } = await fetchUser(server, guest)
  const providers = identities?.map(({ provider }) => provider)
  return { query, isNew: new_email === email, own, is_anonymous, providers }
}

suite('linking an unverified email to an anonymous user', () => {
  const servers = sharedExternalServers()
  for (const [how, give] of Object.entries(owners)) {
    test(`responds identically for an email taken ${how} and for a free one`, async () => {
      const server = await servers()
      const [taken, free] = [newAddress('taken'), newAddress('free')]
      await give(server, taken)
      const expected = await requestFor(server, free)
      assert.equal(expected.query.error_code, 'email_not_confirmed')
      assert.deepEqual(await requestFor(server, taken), expected)
      await server.mail.waitFor(free)
      await waitForIdleQueue(server)
      assert.deepEqual(
        server.mail.messages.filter(({ to }) => to === taken),
        [],
      )
    })
  }
})
