/** Requests in a row: sign-ins at providers, and pages whose forms are submitted. */
import { consoleBrowser } from '../../support/console-browser.ts'
import { openBrowser } from '../../support/page-browser.ts'
import { signInAs } from '../../support/providers/openid-provider.ts'
import { buildAssertion, buildSamlResponse, signed } from '../../support/saml/idp.ts'
import { newAddress, newNumber, password } from '../../support/users.ts'
import type { World } from '../world/index.ts'
import { type Answer, send } from './send.ts'

type Journey = () => Promise<Answer>

export function createJourneys(world: World): Record<string, Journey> {
  return {
    ...pages(world),
    'a sign-in at a custom provider': () => signInByProvider(world),
    'a sign-in by SAML': () => signInBySaml(world),
    'an approved authorization': async () => {
      const route = '/oauth/authorizations/:authorization_id'
      const opened = await send(world, 'GET', route)
      return opened.status >= 500
        ? opened
        : send(world, 'POST', `${route}/consent`, { payload: { action: 'approve' } })
    },
    'a token of the console': async () => {
      const browser = consoleBrowser(world.app)
      await browser.signIn(world.bob.email)
      const { statusCode: status, body } = await browser.exchange()
      return { status, body }
    },
  }
}

async function signInByProvider(world: World): Promise<Answer> {
  const { app, issuer } = world
  const { statusCode: status, body, headers } = await app.inject('/authorize?provider=custom:acme')
  const location = String(headers.location)
  if (!location.startsWith(issuer)) return { status, body }
  const query = await signInAs('ann', new URL(location))
  return send(world, 'GET', '/callback', { token: null, query })
}

function signInBySaml(world: World): Promise<Answer> {
  const { idp } = world.idp
  const { requestId, relayState: RelayState } = world.saml
  const attributes = { mail: ['zed@corp.example'] }
  const assertion = buildAssertion({ idp, requestId, nameId: 'zed', attributes })
  const xml = buildSamlResponse({ idp, requestId }, signed(assertion, 'Assertion', idp))
  const form = { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState }
  return send(world, 'POST', '/sso/saml/acs', { token: null, form })
}

/** Values of the fields that a user fills in. */
const typed: Record<string, string> = {
  email: newAddress(),
  phone: newNumber(),
  username: 'bob-typed',
  full_name: 'Bob',
  password: 'another correct horse',
  current_password: password,
  name: 'Bob',
  code: '123456',
}

const accountPages = [
  'profile',
  'email',
  'username',
  'phone',
  'password',
  'confirm',
  'factors',
  'passkeys',
  'devices',
  'linked',
  'apps',
  'data',
  'delete',
]

function pages(world: World): Record<string, Journey> {
  const { authorization, device, cookie, ann } = world
  const own = accountPages.map((name): [string, Journey] => [
    `the forms of /account/${name}`,
    () => submitForms(world, `/account/${name}`, cookie),
  ])
  const consent = `/oauth/consent?authorization_id=${authorization}`
  return {
    ...Object.fromEntries(own),
    'the forms of the consent page': () => submitForms(world, consent, cookie),
    'the forms of the device page': () =>
      submitForms(world, `/oauth/device?user_code=${device.user_code}`, cookie),
    'a sign-in at the page': () =>
      submitForms(world, '/sign-in', '', { email: ann.email, password }),
  }
}

/** Submits each form of a page by each of its buttons. */
async function submitForms(
  { app }: World,
  url: string,
  cookie: string,
  fields: Record<string, string> = {},
): Promise<Answer> {
  const browser = openBrowser(app)
  for (const pair of cookie.split('; ')) browser.take(pair)
  const page = await browser.open(url)
  let last: Answer = { status: page.status, body: page.html }
  for (const [form] of page.html.matchAll(/<form[\s\S]*?<\/form>/g)) {
    for (const button of listButtons(form)) {
      const { status, html } = await browser.submit(
        { ...page, html: form },
        {
          ...readInputs(form),
          ...fields,
          ...button,
        },
      )
      last = { status, body: html }
      if (status >= 500) return last
    }
  }
  return last
}

/** Of hidden fields, the page's own values. */
function readInputs(form: string): Record<string, string> {
  const inputs = form.match(/<(?:input|select)[^>]*>/g) ?? []
  const names = inputs.map((input) => / name="([^"]*)"/.exec(input)?.[1] ?? '')
  const filled = names.map((name): [string, string] => [name, typed[name] ?? ''])
  return Object.fromEntries(filled.filter(([, value]) => value !== ''))
}

function listButtons(form: string): Record<string, string>[] {
  const found = [...form.matchAll(/<button[^>]* name="([^"]*)" value="([^"]*)"/g)]
  return found.length > 0 ? found.map(([, name = '', value = '']) => ({ [name]: value })) : [{}]
}
