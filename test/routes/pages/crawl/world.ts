/** A browser with its users, and what a user knows: passwords, and the codes and links that were sent. */
import { accountPage, type Browser, makeStale } from '../../../support/account-pages.ts'
import { externalServer } from '../../../support/external.ts'
import { everyFactor, totpCode } from '../../../support/factors/factors.ts'
import { waitForIdleQueue } from '../../../support/messages/mail-journeys.ts'
import { startSmsServer } from '../../../support/messages/sms-server.ts'
import { createClient, makePkce, oauthServer, postForm } from '../../../support/oauth-server.ts'
import { authorizeUrl, openBrowser, type PageResponse } from '../../../support/page-browser.ts'
import type { Ending } from '../../../support/processes/ending.ts'
import { addIdp, samlOn } from '../../../support/saml/server.ts'
import type { App } from '../../../support/server.ts'
import { confirmAddress, newNumber, password, signUpUser } from '../../../support/users.ts'

export interface Scenario {
  /** Signed in one after the other. */
  accounts: 0 | 1 | 2
  /** A path, `device` with a code, or `authorize`: the request of a client. */
  start: string
  prompt?: string
  /** The paths of the pages that are explored; of others, only what is reached is checked. By default, all. */
  scope?: RegExp
  /** What is special about the account or its session. */
  state?: 'factor' | 'old session'
  /** Right entries only, except on pages that no other scenario reaches. */
  isBrief?: boolean
}

export type Server = Awaited<ReturnType<typeof openServer>>

/** Everything is on, and nothing has to wait. */
export async function openServer(ending: Ending) {
  const sms = await startSmsServer()
  ending.after(sms.stop)
  const env = {
    ...oauthServer,
    ...everyFactor,
    ...accountPage,
    ...sms.env,
    ...samlOn,
    // One provider stands for all.
    AUTH_EXTERNAL_GITLAB_ENABLED: 'false',
    // Each code is hashed.
    AUTH_MFA_RECOVERY_CODES_COUNT: '4',
    AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
    AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
    AUTH_PASSKEY_ENABLED: 'true',
    AUTH_USER_SELF_DELETE_ENABLED: 'true',
    AUTH_USERNAMES_ENABLED: 'true',
    AUTH_MAILER_LINK_CONFIRMATION: 'true',
    AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'true',
  }
  const server = await externalServer(ending, { env })
  const { idp } = await addIdp(server.app, { domains: ['corp.example'] })
  return { ...server, sms, idp }
}

export type World = Awaited<ReturnType<typeof makeWorld>>

export async function makeWorld(server: Server, scenario: Scenario) {
  const { app } = server
  const { accounts, state } = scenario
  const [user, second] = await Promise.all([signUp(app), accounts === 2 ? signUp(app) : undefined])
  const browser = openBrowser(app)
  if (accounts > 0) await signIn(browser, user.email)
  if (second) await signIn(browser, second.email)
  const factor = state === 'factor' ? await addFactor(browser, user.email) : {}
  if (state === 'old session') await makeStale(app, user.user.id)
  const known = {
    email: user.email,
    password,
    phone: newNumber(),
    userCode: '',
    secret: '',
    recovery: '',
    added: '',
    ...factor,
  }
  const start = await openStart(app, scenario, known)
  return { ...server, browser, known, start }
}

async function signUp(app: App) {
  const user = await signUpUser(app)
  await confirmAddress(app, user.user.id)
  return user
}

async function signIn(browser: Browser, email: string) {
  await browser.submit(await browser.open('/sign-in'), { email, password, action: 'password' })
}

/** The user has an authenticator app, which the session of the browser has not verified, and recovery codes. */
async function addFactor(browser: Browser, email: string) {
  const list = await browser.open('/account/factors')
  const scan = await browser.submit(list, { name: 'App', action: 'add_totp' })
  const secret = secretIn(scan)
  await browser.submit(scan, { code: totpCode(secret), action: 'verify' })
  const factors = await browser.open('/account/factors')
  const { html } = await browser.submit(factors, { action: 'make_codes' })
  await browser.submit(await browser.open('/account'), { action: 'sign_out' })
  await signIn(browser, email)
  return { secret, recovery: /<li><code>([^<]+)</.exec(html)?.[1] ?? '' }
}

/** Of an authenticator app that is being added. */
export const secretIn = ({ html }: PageResponse): string =>
  /<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1]?.replaceAll(' ', '') ?? ''

/** The address that the browser opens first. */
async function openStart(app: App, { start, prompt }: Scenario, known: { userCode: string }) {
  if (start === 'authorize') {
    const client = await createClient(app)
    return authorizeUrl(client, makePkce().challenge, prompt ? { prompt } : {})
  }
  if (start !== 'device') return start
  const { client_id } = await createClient(app, {
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
  })
  const { user_code } = (await postForm(app, '/oauth/device_authorization', { client_id })).json()
  known.userCode = user_code
  return `/oauth/device?user_code=${user_code}`
}

/** Undefined when none was sent. */
export async function findMail(world: World, to: string) {
  await waitForIdleQueue(world)
  return world.mail.messages.findLast((message) => message.to === to)
}
