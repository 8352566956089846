/** (sign-in, deactivation by SCIM): no session of a deactivated user is valid. */
import { type Pair, runRaces, trueFacts } from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import type { Users } from '../support/races/users.ts'
import { refresh } from '../support/requests.ts'
import { addClient, type ScimClient, scimOn } from '../support/scim/clients.ts'
import { password, signIn } from '../support/users.ts'

interface Stage {
  client: ScimClient
  path: string
  email: string
  refresh_token: string
}

const off = { op: 'replace', path: 'active', value: false }

const clients = new WeakMap<Users, Promise<ScimClient>>()

/** The client of the organization with the domain of all users. */
function getClient(users: Users): Promise<ScimClient> {
  const client = clients.get(users) ?? addClient(users.app, 'example.com')
  clients.set(users, client)
  return client
}

/** A linked account with a password and a session. */
async function prepare(users: Users, client: ScimClient): Promise<Stage> {
  const { email, refresh_token } = await users.createSignedIn()
  const { id } = await client.create({ userName: email, emails: [{ value: email }] })
  return { client, path: `/Users/${id}`, email, refresh_token }
}

function pair(users: Users, first: Pair<Stage>['first']): Pair<Stage> {
  return {
    invariant:
      'After a deactivation no session of the user is valid, and the user does not sign in.',
    prepare: async () => prepare(users, await getClient(users)),
    first,
    second: ({ client, path }) => client.patch(path, off),
    violations: async ({ email }, { first, second }) =>
      trueFacts({
        'the deactivation was rejected': second.statusCode !== 200,
        'a session is valid': await users.opens(first),
        'the user signs in': await users.signsIn(email, password),
      }),
  }
}

suiteOfRaces('races with a SCIM deactivation: no session remains', scimOn, {
  'a sign-in and a deactivation': (users) =>
    runRaces(
      pair(users, ({ email }) => signIn(users.app, { email })),
      20,
    ),
  'a refresh and a deactivation': (users) =>
    runRaces(
      pair(users, ({ refresh_token }) => refresh(users.app, refresh_token)),
      20,
    ),
})
