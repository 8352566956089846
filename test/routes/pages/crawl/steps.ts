/** What a user may do next: at a page of this server, in the mailbox, and at a provider that the page led to. */
import assert from 'node:assert/strict'

import { emailedPath } from '../../../support/messages/mail-journeys.ts'
import { linkIn } from '../../../support/messages/mail-links.ts'
import { type PageResponse, refreshIn, titleIn } from '../../../support/page-browser.ts'
import { buildAssertion, buildSamlResponse } from '../../../support/saml/idp.ts'
import { post, requestIn } from '../../../support/saml/server.ts'
import { listPressables, type Pressable } from './elements.ts'
import { fill, type Variant, variants } from './entries.ts'
import { findMail, type Scenario, type Server, secretIn, type World } from './world.ts'

export interface Step {
  key: string
  variant: Variant
}

const [mailed, cancelled, rejected] = [
  'the link of the email',
  'Cancel at the provider',
  'a response of the organization that is rejected',
]

export function listSteps(server: Server, scenario: Scenario, page: PageResponse): Step[] {
  const elsewhere = findElsewhere(server, page)
  if (elsewhere) return [{ key: elsewhere, variant: 'right' }]
  if (hasLeft(page)) return []
  const pressables = listPressables(page, isOurs(server))
  const isBrief = scenario.isBrief === true && !ofOneScenario.includes(titleIn(page))
  const steps = pressables.flatMap((one) =>
    variantsFor(one, isBrief).map((variant): Step => ({ key: one.key, variant })),
  )
  return addressIn(pressables) ? [...steps, { key: mailed, variant: 'right' }] : steps
}

/** The browser is at the application, at the site or at a provider. */
const hasLeft = (page: PageResponse): boolean =>
  page.location !== undefined || refreshIn(page.html) !== undefined

function findElsewhere({ fakes }: Server, { location = '', html }: PageResponse) {
  const isAtProvider = Object.values(fakes).some(({ origin }) => location.startsWith(origin))
  if (isAtProvider) return cancelled
  return refreshIn(html)?.includes('SAMLRequest=') ? rejected : undefined
}

/** To which the page that takes its code has sent an email. */
const addressIn = (pressables: readonly Pressable[]): string | undefined =>
  pressables
    .flatMap((one) =>
      one.kind === 'button' && one.key.startsWith('button /sign-in verify') ? one : [],
    )
    .map(({ hidden }) => hidden.email)
    .find(Boolean)

const ofOneScenario = ['Second factor', 'Confirm that it is you']

function variantsFor(one: Pressable, isBrief: boolean): readonly Variant[] {
  if (one.kind === 'link' || one.inputs.length === 0 || isBrief) return ['right']
  const mayBeIncomplete = !one.isValidated || one.inputs.some(({ isRequired }) => !isRequired)
  return variants.filter((variant) => variant !== 'incomplete' || mayBeIncomplete)
}

const isOurs =
  ({ app }: Pick<Server, 'app'>) =>
  (url: string) =>
    url.startsWith(`${app.config.AUTH_API_EXTERNAL_URL}/`)

/** Returns the page that follows. */
export async function take(world: World, page: PageResponse, step: Step): Promise<PageResponse> {
  const { browser, known } = world
  if (step.key === cancelled) return browser.open(cancelAt(page))
  if (step.key === rejected) return browser.open(await rejectedAt(world, page))
  const pressables = listPressables(page, isOurs(world))
  if (step.key === mailed) {
    const mail = await findMail(world, addressIn(pressables) ?? '')
    return mail ? browser.open(emailedPath(linkIn(mail))) : page
  }
  const found = pressables.find(({ key }) => key === step.key)
  assert.ok(found, `${step.key} is not on the page again: ${titleIn(page)}`)
  if (found.kind === 'link') return browser.open(found.url)
  known.added = secretIn(page) || known.added
  const form = await fill(world, page, found, step.variant)
  const answer = await browser.send('POST', found.target, form)
  // A download leaves the page as it is.
  return answer.headers['content-disposition'] === undefined ? browser.follow(answer) : page
}

function cancelAt({ location = '' }: PageResponse): string {
  const state = new URL(location).searchParams.get('state') ?? ''
  return `/callback?${new URLSearchParams({ error: 'access_denied', state })}`
}

/** The organization posts it from its own site. */
async function rejectedAt({ app, idp }: World, { html }: PageResponse): Promise<string> {
  const { request, relayState } = requestIn(refreshIn(html) ?? '')
  const requestId = / ID="([^"]+)"/.exec(request)?.[1] ?? ''
  const unsigned = buildSamlResponse({ idp, requestId }, buildAssertion({ idp, requestId }))
  return (await post(app, unsigned, relayState)).location.href
}
