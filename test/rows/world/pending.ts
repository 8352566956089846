/** Links, codes, flows and settings that wait for a request. */
import { createAdminLink } from '../../../modules/admins/index.ts'
import { makePkce } from '../../support/oauth-server.ts'
import { adminOk } from '../../support/organizations/organizations.ts'
import { signInAs } from '../../support/providers/openid-provider.ts'
import { call, changeUser } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newAddress, newNumber, password, signUpUser } from '../../support/users.ts'
import type { Accounts } from './accounts.ts'
import type { Organization } from './organization.ts'
import { testNumber } from './settings.ts'

export interface Link {
  /** As `/verify` takes it. */
  type: string
  id: string
  email: string
  hashed_token: string
  email_otp: string
}

export async function addPending(app: App, accounts: Accounts, { scim }: Organization) {
  const { changer, bob } = accounts
  await changeUser(app, changer.access_token, { email: newAddress(), phone: newNumber() })
  await call(app, '/reauthenticate', undefined, { token: changer.access_token })
  await call(app, '/otp', { phone: testNumber })
  await call(app, '/signup', { email: bob.email, password, username: 'ann-reserved' })
  await adminOk(app, 'POST /admin/webhooks', { url: 'https://hooks.example/' })
  const subject = { AUTH_MAILER_SUBJECTS_RECOVERY: 'Recover' }
  await adminOk(app, 'PUT /admin/settings', { values: subject })
  const firstAdmin = await createAdminLink(
    app,
    app.db,
    { email: null, role: 'owner', createdBy: null },
    new Date(),
  )
  await addLegacyToken(app, bob.user.id)
  return {
    links: await addLinks(app),
    flow: await addFlow(app),
    firstAdmin: new URL(firstAdmin.link).hash.split('=')[1] ?? '',
    ids: await findIds(app, accounts.id, scim.client.connection.id),
  }
}

const linkTypes = [
  'magiclink',
  'recovery',
  'signup',
  'invite',
  'email_change_current',
  'email_change_new',
]

async function addLinks(app: App): Promise<Link[]> {
  const links: Link[] = []
  for (const type of linkTypes) {
    const isNew = type === 'signup' || type === 'invite'
    const email = isNew ? newAddress() : (await signUpUser(app)).email
    const change = type.startsWith('email_change')
    const body = {
      type,
      email,
      password,
      data: { a: 1 },
      ...(change && { new_email: newAddress() }),
    }
    const link = await adminOk<Link>(app, 'POST /admin/generate_link', body)
    const sentTo = type === 'email_change_new' ? body.new_email : undefined
    links.push({ ...link, email: sentTo ?? email, type: change ? 'email_change' : type })
  }
  return links
}

/** A code of a sign-in at a provider, which waits for its exchange. */
async function addFlow(app: App): Promise<{ auth_code: string; code_verifier: string }> {
  const { verifier, challenge } = makePkce()
  const query = {
    provider: 'custom:acme',
    code_challenge: challenge,
    code_challenge_method: 's256',
  }
  const begun = await app.inject(`/authorize?${new URLSearchParams(query)}`)
  const fields = await signInAs('ann', new URL(String(begun.headers.location)))
  const ended = await app.inject(`/callback?${new URLSearchParams(fields)}`)
  const { searchParams } = new URL(String(ended.headers.location))
  return { auth_code: searchParams.get('code') ?? '', code_verifier: verifier }
}

export const legacyToken = 'legacytoken1'

/** A refresh token as GoTrue stored it. */
async function addLegacyToken(app: App, userId: string): Promise<void> {
  await app.pool.query(
    `insert into auth.refresh_tokens (token, user_id, revoked, created_at, updated_at, session_id)
     select $2, user_id::text, false, now(), now(), id from auth.sessions where user_id = $1 limit 1`,
    [userId, legacyToken],
  )
}

interface Ids {
  mail: string
  session: string
  token: string
  change: string
  webhook: string
}

async function findIds(app: App, userId: string, connectionId: string): Promise<Ids> {
  const { rows } = await app.pool.query<Ids>(
    `select (select id from auth.postern_mail_messages limit 1) as mail,
      (select id from auth.sessions where user_id = $1 limit 1) as session,
      (select id from auth.scim_tokens where sso_provider_id = $2 limit 1) as token,
      (select id::text from auth.postern_setting_changes limit 1) as change,
      (select id from auth.postern_webhooks where url like '%hooks.example%' limit 1) as webhook`,
    [userId, connectionId],
  )
  const [ids] = rows
  if (!ids) throw new Error('no ids')
  return ids
}
