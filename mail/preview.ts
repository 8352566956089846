/** Every kind of mail with made-up people, to be looked at. */
import { type ConfirmationLink, confirmationUrl } from './confirmation-url.ts'
import { type MailKind, mailKindNames } from './kinds.ts'
import type { MailRenderer, RenderedMail } from './render.ts'
import type { MailVariables } from './variables.ts'

export interface MailPreview extends RenderedMail {
  kind: MailKind
}

export interface PreviewAddresses {
  siteUrl: string
  /** Where this server is reached, and the links lead. */
  externalUrl: string
}

/** Renders all thirteen kinds with the given renderer, so with the operator's own templates if it has them. */
export async function previewAll(
  renderer: MailRenderer,
  addresses: PreviewAddresses,
): Promise<MailPreview[]> {
  const samples = sampleVariables(addresses)
  return Promise.all(
    mailKindNames.map(async (kind) => ({ kind, ...(await renderSample(renderer, kind, samples)) })),
  )
}

function renderSample<Kind extends MailKind>(
  renderer: MailRenderer,
  kind: Kind,
  samples: MailVariables,
) {
  return renderer.render(kind, samples[kind])
}

function sampleVariables({ siteUrl, externalUrl }: PreviewAddresses): MailVariables {
  const redirectTo = `${siteUrl.replace(/\/+$/, '')}/welcome`
  const common = {
    SiteURL: siteUrl,
    Email: 'ada.lovelace@example.com',
    Data: { name: 'Ada Lovelace', language: 'en' },
  }
  const link = (type: ConfirmationLink['type']) => ({
    ...common,
    ConfirmationURL: confirmationUrl({
      base: externalUrl,
      urlPath: undefined,
      token: sampleHash,
      type,
      redirectTo,
    }),
    Token: '402817',
    TokenHash: sampleHash,
    RedirectTo: redirectTo,
  })
  const newEmail = 'ada.king@example.org'
  return {
    confirmation: link('signup'),
    invite: link('invite'),
    recovery: link('recovery'),
    magic_link: link('magiclink'),
    email_change: { ...link('email_change'), NewEmail: newEmail, SendingTo: newEmail },
    reauthentication: { ...common, Token: '402817' },
    password_changed_notification: common,
    email_changed_notification: { ...common, Email: newEmail, OldEmail: common.Email },
    phone_changed_notification: { ...common, Phone: '15550102', OldPhone: '15550101' },
    identity_linked_notification: { ...common, Provider: 'github' },
    identity_unlinked_notification: { ...common, Provider: 'github' },
    mfa_factor_enrolled_notification: { ...common, FactorType: 'totp' },
    mfa_factor_unenrolled_notification: { ...common, FactorType: 'totp' },
  }
}

const sampleHash = 'pkce_5f1c8d0e9b7a4632c1d0f8e7a6b5948372615049382716f5e4d3c2b1'
