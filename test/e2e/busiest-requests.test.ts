/** Statements and round trips of the busiest requests. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import { describe, type ExternalServer, verifiedProfile } from '../support/external.ts'
import { sharedExternalServers } from '../support/processes/shared-servers.ts'
import { call, changeUser, getUser, refresh } from '../support/requests.ts'
import { signedResponse } from '../support/saml/idp.ts'
import { addIdp, begin, post, samlOn } from '../support/saml/server.ts'
import { newClient, newOrganization, scimOn } from '../support/scim/clients.ts'
import { recordTrips } from '../support/statements.ts'
import { autoconfirm, newAddress, signedIn, signUp, signUpUser } from '../support/users.ts'

/** Statements prepared on the single connection are pipelined. */
const oneConnection = { AUTH_DB_MAX_POOL_SIZE: '1' }

/** Begin and commit are counted as round trips only. */
const isStatement = (text: string) => text !== 'begin' && text !== 'commit'

/** Prepares a request and returns the function that sends it. */
type Prepare = (server: ExternalServer) => Promise<() => Promise<unknown>>

interface Busy {
  env?: Record<string, string>
  statements: number
  trips: number
  prepare: Prepare
}

const requests: Record<string, Busy> = {
  'GET /user': {
    env: autoconfirm,
    statements: 1,
    trips: 1,
    async prepare({ app }) {
      const session = await signUpUser(app)
      return async () => assert.equal((await getUser(app, session)).statusCode, 200)
    },
  },
  'a refresh': {
    env: autoconfirm,
    statements: 1,
    trips: 1,
    async prepare({ app }) {
      const { refresh_token } = await signUpUser(app)
      return async () => assert.equal((await refresh(app, refresh_token)).statusCode, 200)
    },
  },
  'a password sign-in': {
    env: autoconfirm,
    statements: 3,
    trips: 3,
    async prepare({ app }) {
      const { email } = await signUpUser(app)
      return () => signedIn(app, email)
    },
  },
  'a sign-up': {
    statements: 10,
    trips: 4,
    async prepare({ app }) {
      const email = newAddress()
      return async () => assert.equal((await signUp(app, { email })).statusCode, 200)
    },
  },
  'an anonymous sign-up': {
    env: autoconfirm,
    statements: 1,
    trips: 1,
    async prepare({ app }) {
      return async () => assert.equal((await call(app, '/signup', {})).statusCode, 200)
    },
  },
  'PUT /user': {
    env: autoconfirm,
    statements: 2,
    trips: 2,
    async prepare({ app }) {
      const { access_token } = await signUpUser(app)
      const change = { data: { theme: 'dark' } }
      return async () => assert.equal((await changeUser(app, access_token, change)).statusCode, 200)
    },
  },
  'GET /admin/users/{user_id}': {
    env: autoconfirm,
    statements: 1,
    trips: 1,
    async prepare({ app }) {
      const { user } = await signUpUser(app)
      return async () =>
        assert.equal((await asAdmin(app, 'GET', `/admin/users/${user.id}`)).statusCode, 200)
    },
  },
  'a page of GET /admin/users': {
    env: autoconfirm,
    statements: 1,
    trips: 1,
    async prepare({ app }) {
      return async () =>
        assert.equal((await asAdmin(app, 'GET', '/admin/users?limit=1')).statusCode, 200)
    },
  },
  'the first sign-in by a provider': {
    statements: 8,
    trips: 8,
    async prepare({ fakes, startSignIn, finishSignIn }) {
      const id = String(Math.floor(Math.random() * 1e9))
      describe(fakes, 'github', verifiedProfile(newAddress(), id))
      const params = await startSignIn('github')
      return async () => assert.ok((await finishSignIn(params)).fragment.access_token)
    },
  },
  'the first sign-in by SAML': {
    env: samlOn,
    statements: 10,
    trips: 10,
    async prepare({ app }) {
      const { idp, id } = await addIdp(app)
      const { relayState, requestId } = await begin(app, { provider_id: id })
      const xml = signedResponse({ idp, requestId, attributes: { mail: [newAddress()] } })
      return async () => assert.ok((await post(app, xml, relayState)).fragment.access_token)
    },
  },
  'a SCIM PATCH': {
    env: scimOn,
    statements: 7,
    trips: 5,
    async prepare({ app }) {
      const domain = `${crypto.randomUUID()}.test`
      const client = await newClient(app, { organization_id: await newOrganization(app, domain) })
      const { id } = await client.create({ userName: `ann@${domain}`, active: true })
      const change = { op: 'replace', path: 'displayName', value: 'Ann' }
      return async () => assert.equal((await client.patch(`/Users/${id}`, change)).statusCode, 200)
    },
  },
}

suite('the busiest requests', () => {
  const serverFor = sharedExternalServers()
  for (const [name, { env, statements, trips: expected, prepare }] of Object.entries(requests)) {
    const title = `${name}: statements ${statements}, round trips ${expected}`
    test(title, async () => {
      const server = await serverFor({ ...oneConnection, ...env })
      // The statements are described when they run for the first time.
      for (let run = 0; run < 2; run++) await (await prepare(server))()
      const trips = await recordTrips(server.app, await prepare(server))
      const texts = trips.map((trip) => trip.join(';\n')).join('\n--\n')
      assert.deepEqual(
        [trips.flat().filter(isStatement).length, trips.length],
        [statements, expected],
        texts,
      )
    })
  }
})
