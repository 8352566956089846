/** Every built-in mail as it arrives: sent over SMTP and parsed back. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { convert } from 'html-to-text'

import {
  type EmailKind,
  emailKindDefinitions,
  type MailVariables,
  mailKindNames,
} from '../../mail/kinds/index.ts'
import { english } from '../../mail/languages/language.ts'
import { createMailTransport } from '../../mail/transport.ts'
import { rendererWith, samples } from './rendering.ts'
import { startSmtp, transportOptions } from './smtp.ts'

/** The text of each email besides its link and code. */
const phrases: Record<EmailKind, string[]> = {
  confirmation: ['ada@example.org'],
  invite: ['ada@example.org', 'https://app.example'],
  recovery: ['ada@example.org'],
  magic_link: ['ada@example.org'],
  email_change: ['from ada@example.org to ada@example.com', 'Sent to ada@example.com'],
  reauthentication: ['Sent to ada@example.org'],
  organization_invitation: ['grace@example.org has invited ada@example.org to join Acme'],
  organization_domain: ['Acme', 'example.org'],
  password_changed_notification: ['ada@example.org'],
  email_changed_notification: [
    'from old@example.org to ada@example.org',
    'Sent to old@example.org',
  ],
  phone_changed_notification: ['from +15550101 to +15550102'],
  identity_linked_notification: ['GitHub can be used'],
  identity_unlinked_notification: ['custom:acme can no longer be used'],
  mfa_factor_enrolled_notification: ['an authenticator app'],
  mfa_factor_unenrolled_notification: ['your phone.'],
  security_key_refused_notification: ['a copy of the key exists'],
  recovery_code_used_notification: ['9 codes are left.'],
  new_sign_in_notification: [
    'Device: Firefox, Windows',
    '203.0.113.7',
    'March 4, 2026 at 5:06 AM UTC',
  ],
  refresh_token_reused_notification: ['we ended its session'],
  passkey_added_notification: ['Google Password Manager'],
  mfa_verification_failed_notification: ['failed the second step'],
  too_many_attempts_notification: ['open the link in the email'],
  account_deleted_notification: ['ada@example.org', 'https://app.example'],
  username_changed_notification: ['ada@example.org with the username ada'],
  app_connected_notification: ['Grafana can now access your account ada@example.org'],
  admin_role_notification: ['grace@example.org now has the role operator'],
  organization_role_notification: ['grace@example.org now has the role admin in Acme'],
  scim_token_notification: ['token Entra ID', 'users of Acme'],
  oauth_client_notification: ['application Grafana', 'redirect_uris'],
  server_change_notification: ['grace@example.org changed settings', 'AUTH_SITE_URL'],
}

const link = samples.confirmation.ConfirmationURL
const variants: [name: string, kind: EmailKind, change: object, says: RegExp, not: RegExp][] = [
  [
    'email_change to the current address says that the new address receives an email too',
    'email_change',
    { SendingTo: 'ada@example.org' },
    /The new address receives an email like this one too/,
    /Your old address may/,
  ],
  [
    'email_change to a user without an email names no old address',
    'email_change',
    { Email: '' },
    /is to change to ada@example\.com\./,
    / from |old address/,
  ],
  [
    'phone_changed_notification for a first number names no old number',
    'phone_changed_notification',
    { OldPhone: '' },
    /has changed to \+15550102\./,
    / from /,
  ],
]

suite('built-in emails', () => {
  for (const kind of mailKindNames) {
    test(`${kind} has matching HTML and text parts`, async (t) => {
      const { subject, html, text } = await arrived(t, kind, samples[kind])

      assert.equal(subject, formatSubject(kind))
      const shown = convert(html, { wordwrap: false, selectors: upperless })
      for (const phrase of phrases[kind]) {
        assert.ok(text.includes(phrase), `the text does not say ${phrase}:\n${text}`)
        assert.ok(shown.includes(phrase), `the HTML does not say ${phrase}:\n${shown}`)
      }
      assert.doesNotMatch(text, /\{\{|<|&amp;/)
      assert.doesNotMatch(html, /\{\{|<img|<script|src=|url\(/)
      assert.match(html, /prefers-color-scheme: dark/)
      assert.match(html, /name="viewport"/)
    })

    test(`${kind} has only the link and code of its type`, async (t) => {
      const { html, text } = await arrived(t, kind, samples[kind])

      const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => unescaped(href ?? ''))
      const codes = (from: string) => [...from.matchAll(/\b123456\b/g)].length
      const hasCode = emailKindDefinitions[kind].link || 'Token' in samples[kind]
      const address = getButton(kind)
      assert.deepEqual(hrefs, address ? [address, address] : [])
      assert.equal(text.includes(`\n${link}\n`), emailKindDefinitions[kind].link)
      assert.equal(codes(text), hasCode ? 1 : 0)
      assert.equal(codes(html), hasCode ? 1 : 0)
    })
  }

  for (const [name, kind, change, expectedText, not] of variants) {
    test(name, async (t) => {
      const { text } = await arrived(t, kind, { ...samples[kind], ...change })

      const flat = text.split('\n-- \n')[0]?.replaceAll('\n', ' ') ?? ''
      assert.match(flat, expectedText)
      assert.doesNotMatch(flat, not)
    })
  }

  test('escapes all variables', async (t) => {
    const evil = '"><script>alert(1)</script><a href="https://evil.example">{{ .Token }}{% raw %}'
    for (const kind of mailKindNames) {
      const names = Object.keys(samples[kind])
      const { html } = await arrived(
        t,
        kind,
        Object.fromEntries(names.map((name) => [name, name === 'Data' ? { name: evil } : evil])),
      )

      assert.doesNotMatch(html, /<script|href="https:\/\/evil/)
      assert.equal(html.match(/<a /g)?.length ?? 0, getButton(kind) ? 2 : 0)
    }
  })
})

/** The English subject with the variables of the samples. */
function formatSubject(kind: EmailKind): string {
  const variables: Record<string, unknown> = samples[kind]
  return english.mails[kind].subject.replaceAll(/\{\{ \.(\w+) \}\}/g, (_, name) =>
    String(variables[name]),
  )
}

/** Where the button of a kind leads. */
function getButton(kind: EmailKind): string | undefined {
  if (emailKindDefinitions[kind].link) return link
  if (kind === 'organization_invitation') return samples[kind].InvitationURL
  return kind === 'new_sign_in_notification' ? samples[kind].EndSessionURL : undefined
}

async function arrived(t: TestContext, kind: EmailKind, variables: object) {
  const { renderer, warnings } = rendererWith()
  const { port, emails } = await startSmtp(t)
  const transport = createMailTransport(transportOptions(port))
  t.after(transport.close)
  const rendered = await renderer.render(kind, variables as MailVariables[EmailKind])
  const facts = { kind, messageId: '<1@example.com>', to: 'ada@example.org', date: new Date() }
  await transport.send({ ...facts, ...rendered })
  assert.deepEqual(warnings, [])
  const parsed = emails[0]?.parsed
  assert.ok(parsed?.html)
  return { subject: parsed.subject, html: parsed.html, text: parsed.text ?? '' }
}

const upperless = ['h1', 'a'].map((selector) => ({
  selector,
  options: { uppercase: false, ignoreHref: true },
}))

function unescaped(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&#34;', '"')
}
