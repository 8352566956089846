/** Users with every kind of factor, identity and session. */
import { addTotp, challenge, stepUp } from '../../support/factors/factors.ts'
import { userWithSecurityKey } from '../../support/factors/key-journeys.ts'
import { addPasskey, createAuthenticationChallenge } from '../../support/factors/passkeys.ts'
import { makeCodes } from '../../support/factors/recovery-codes.ts'
import { adminOk } from '../../support/organizations/organizations.ts'
import { openBrowser } from '../../support/page-browser.ts'
import type { App } from '../../support/server.ts'
import { confirmAddress, newNumber, password, signedIn, signUpUser } from '../../support/users.ts'

export type Accounts = Awaited<ReturnType<typeof addAccounts>>

/** `ann` has everything, also a role on the server, and `session` is hers at aal2. The others have little. */
export async function addAccounts(app: App) {
  const { user, email } = await signUpUser(app)
  const { id } = user
  await confirmAddress(app, id)
  await adminOk(app, 'POST /admin/admins', { user_id: id, role: 'owner' })
  const ann = { ...(await signedIn(app, email)), email }
  const phone = newNumber()
  await adminOk(app, `PUT /admin/users/${id}`, {
    phone,
    phone_confirm: true,
    app_metadata: { plan: 'gold' },
    user_metadata: { full_name: 'Ann' },
  })
  await adminOk(app, `PUT /admin/users/${id}/username`, { username: 'ann-main' })
  const { device: authenticator, passkey } = await addPasskey(app, ann)
  const key = await userWithSecurityKey(app, ann, 'key')
  const totp = await addTotp(app, key.session, 'app')
  const session = await stepUp(app, key.session, totp)
  const codes: { codes: string[] } = (await makeCodes(app, session)).json()
  const identity = await addIdentity(app, id)
  const [bob, changer, invitee] = [
    await signUpUser(app),
    await signUpUser(app),
    await signUpUser(app),
  ]
  await confirmAddress(app, invitee.user.id)
  return {
    ann,
    id,
    phone,
    authenticator,
    passkey,
    key,
    totp,
    session,
    identity,
    bob,
    changer,
    invitee,
    codes: codes.codes,
    totpChallenge: (await challenge(app, session, totp.id)).id,
    question: await createAuthenticationChallenge(app),
    cookie: await signInAtPages(app, bob.email),
  }
}

async function addIdentity(app: App, userId: string): Promise<string> {
  const id = crypto.randomUUID()
  const now = new Date()
  const data = { sub: '117', email: 'ann@g.example', email_verified: true }
  await app.db
    .insertInto('identities')
    .values({
      id,
      user_id: userId,
      provider: 'google',
      provider_id: '117',
      identity_data: JSON.stringify(data),
      last_sign_in_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}

/** The cookies of a browser that signed in at the account page. */
async function signInAtPages(app: App, email: string): Promise<string> {
  const browser = openBrowser(app)
  await browser.submit(await browser.open('/account'), { email, password, action: 'password' })
  return browser.cookie
}
