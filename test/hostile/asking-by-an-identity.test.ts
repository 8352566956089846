/** Somebody anonymous asks whose an address is, by an identity that says it is theirs and has not proven it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ExternalServer, proven, unproven } from '../support/external.ts'
import { link, nextId, userOf } from '../support/linking.ts'
import { idle } from '../support/mail-journeys.ts'
import { anonymousPerson, createdPerson, newAddress } from '../support/people.ts'
import { sharedExternalServers } from '../support/shared-servers.ts'

const owners: Record<string, (server: ExternalServer, email: string) => Promise<unknown>> = {
  'by an admin': ({ app }, email) => createdPerson(app, { email, email_confirm: true }),
  'by a provider': (server, email) => server.signInWith('gitlab', proven(email, nextId())),
}

/** The answer, and what the person sees of themselves afterwards, without what is different for everybody. */
async function askFor(server: ExternalServer, email: string) {
  const guest = await anonymousPerson(server.app)
  const { query } = await link(server, guest, 'github', unproven(email, nextId()))
  const { new_email, email: own, is_anonymous, identities } = await userOf(server, guest)
  const providers = identities?.map(({ provider }) => provider)
  return { query, isNew: new_email === email, own, is_anonymous, providers }
}

suite('an unproven address of an identity that somebody anonymous links', () => {
  const servers = sharedExternalServers()
  for (const [how, give] of Object.entries(owners)) {
    test(`that is somebody's ${how} looks like one that nobody has, and its owner hears nothing`, async () => {
      const server = await servers()
      const [taken, free] = [newAddress('taken'), newAddress('free')]
      await give(server, taken)
      const expected = await askFor(server, free)
      assert.equal(expected.query.error_code, 'email_not_confirmed')
      assert.deepEqual(await askFor(server, taken), expected)
      await server.mail.waitFor(free)
      await idle(server)
      assert.deepEqual(
        server.mail.messages.filter(({ to }) => to === taken),
        [],
      )
    })
  }
})
