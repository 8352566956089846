/** Who comes back from a provider, what is there before, what the browser sees and what is stored. */
import assert from 'node:assert/strict'

import { type ExternalServer, proven, type Somebody, unproven } from '../../support/external.ts'
import { open } from '../../support/mail-journeys.ts'
import { confirmedPerson, createdPerson, signIn, unconfirmedPerson } from '../../support/people.ts'

type Seen = 'session' | { error: string; error_code: string }

export interface Row {
  /** What is there before; returns the user that is expected to be entered, when it is an old one. */
  given?: (server: ExternalServer, email: string) => Promise<{ id: string } | undefined>
  who: (email: string, id: string) => Somebody
  seen: Seen
  /** Users that the sign-in adds. */
  made: number
  stored?: (server: ExternalServer, id: string, email: string) => Promise<void>
}

const unverified = { error: 'access_denied', error_code: 'provider_email_needs_verification' }
const failure = { error: 'server_error', error_code: 'unexpected_failure' }

const bothProven = (primary: string, secondary: string, id: string): Somebody => ({
  id,
  emails: [primary, secondary].map((email) => ({ email, verified: true })),
})

/** Of a sign-up. */
const blue = { data: { color: 'blue' } }

export const table: Record<string, Row> = {
  'a new account': {
    who: (email, id) => proven(email.toUpperCase(), id),
    seen: 'session',
    made: 1,
    async stored({ personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.email, email)
      assert.equal(user.encrypted_password, null)
      assert.equal(user.role, 'authenticated')
      assert.equal(user.is_sso_user, false)
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, email)
      assert.equal(identity?.identity_data.email_verified, true)
      assert.deepEqual(user.raw_user_meta_data, identity?.identity_data)
      assert.deepEqual(await auditActions(user.id), ['user_signedup'])
    },
  },
  'an identity that is known: data follows the provider, the address stays': {
    async given({ signInWith, personWith }, email) {
      const id = idOf(email)
      await signInWith('github', { ...proven(email, id), name: 'Old Name' })
      return personWith({ provider: 'github', id })
    },
    who: (email, id) => ({ ...proven(`new-${email}`, id), name: 'New Name' }),
    seen: 'session',
    made: 0,
    async stored({ personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.raw_user_meta_data?.name, 'New Name')
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, `new-${email}`)
      assert.ok(Number(identity.updated_at) > Number(identity.last_sign_in_at))
      assert.deepEqual(await auditActions(user.id), ['user_signedup', 'login'])
    },
  },
  'a proven address of somebody with a password: linked, nothing of theirs is lost': {
    given: async (server, email) => (await confirmedPerson(server, email, blue)).user,
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ app, personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.deepEqual(user?.raw_app_meta_data?.providers, ['email', 'github'])
      assert.equal(user?.raw_app_meta_data?.provider, 'email')
      assert.equal(user?.raw_user_meta_data?.color, 'blue')
      assert.equal(user?.raw_user_meta_data?.name, 'Ann Lee')
      assert.equal((await signIn(app, { email })).statusCode, 200)
      const actions = await auditActions(user?.id ?? '')
      assert.ok(actions.includes('identity_linked'), actions.join())
    },
  },
  'a proven address that somebody else has squatted: their password and identity are gone': {
    given: async (server, email) => (await unconfirmedPerson(server, email, blue)).user,
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ app, personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.encrypted_password, null)
      assert.equal(user.identities.map(({ provider }) => provider).join(), 'github')
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      assert.equal(user.raw_user_meta_data?.color, undefined)
      assert.equal((await signIn(app, { email })).json().error_code, 'invalid_credentials')
    },
  },
  'a secondary proven address': {
    given: async (server, email) => (await confirmedPerson(server, email)).user,
    who: (email, id) => bothProven(`first-${email}`, email, id),
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      assert.equal((await personWith({ provider: 'github', id }))?.email, email)
    },
  },
  'a proven address that another provider has proven too': {
    async given({ signInWith, personWith }, email) {
      const id = idOf(email)
      await signInWith('gitlab', proven(email, id))
      return personWith({ provider: 'gitlab', id })
    },
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith }, id) {
      const user = await personWith({ provider: 'github', id })
      const providers = ['gitlab', 'github']
      assert.deepEqual(user?.raw_app_meta_data, { provider: 'gitlab', providers })
    },
  },
  'proven addresses, one of somebody and one that somebody else has squatted': {
    async given(server, email) {
      await unconfirmedPerson(server, email)
      return (await confirmedPerson(server, `own-${email}`)).user
    },
    who: (email, id) => bothProven(email, `own-${email}`, id),
    seen: 'session',
    made: 0,
  },
  'proven addresses of two people': {
    async given(server, email) {
      await confirmedPerson(server, email)
      await confirmedPerson(server, `other-${email}`)
      return undefined
    },
    who: (email, id) => bothProven(email, `other-${email}`, id),
    seen: failure,
    made: 0,
    async stored({ personWith }, id) {
      assert.equal(await personWith({ provider: 'github', id }), undefined)
    },
  },
  'an unproven address that nobody has: mail, and no session before it is opened': {
    who: unproven,
    seen: unverified,
    made: 1,
    async stored({ app, mail, personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.email_confirmed_at, null)
      const opened = await open(app, await mail.waitFor(email))
      assert.match(String(opened.headers.location), /#access_token=/)
    },
  },
  'a known identity proves the own address beside another: the own one stays': {
    async given({ signInWith, personWith }, email) {
      const id = idOf(email)
      await signInWith('github', unproven(email, id))
      return personWith({ provider: 'github', id })
    },
    who: (email, id) => bothProven(`first-${email}`, email, id),
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.ok(user.email_confirmed_at)
    },
  },
  'an unproven address of somebody: the same answer, no mail, nothing stored': {
    given: async (server, email) => (await confirmedPerson(server, email)).user,
    who: unproven,
    seen: unverified,
    made: 0,
    async stored({ mail, personWith }, id, email) {
      assert.equal(await personWith({ provider: 'github', id }), undefined)
      assert.equal(mail.messages.filter(({ to }) => to === email).length, 1)
    },
  },
  'no address at all': { who: (_, id) => ({ id, emails: [] }), seen: failure, made: 0 },
  'an address that is none': { who: (_, id) => proven('no address', id), seen: failure, made: 0 },
  'a known identity whose unproven address gives way to a proven one': {
    async given({ signInWith, personWith }, email) {
      const id = idOf(email)
      await signInWith('github', unproven(`typo-${email}`, id))
      return personWith({ provider: 'github', id })
    },
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.ok(user?.email_confirmed_at)
    },
  },
  'a known identity: a proven address that somebody of another audience has stays theirs': {
    async given(server, email) {
      const id = idOf(email)
      await server.signInWith('github', unproven(`first-${email}`, id))
      await createdPerson(server.app, { email, email_confirm: true, aud: 'other' })
      return server.personWith({ provider: 'github', id })
    },
    who: proven,
    seen: unverified,
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, `first-${email}`)
    },
  },
  'a known identity: proving one address does not prove the other one it squats': {
    async given(server, email) {
      const id = idOf(email)
      await server.signInWith('github', unproven(`victim-${email}`, id))
      await confirmedPerson(server, email)
      return server.personWith({ provider: 'github', id })
    },
    who: proven,
    seen: unverified,
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, `victim-${email}`)
      assert.equal(user?.email_confirmed_at, null)
    },
  },
}

/** Digits that belong to the address of one row. */
function idOf(email: string): string {
  return /\d+/.exec(email)?.[0] ?? '100'
}
