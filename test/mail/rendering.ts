/** A renderer for tests and its warnings. */
import type { CustomTemplateSetting } from '../../mail/custom-templates.ts'
import { type EmailKind, type MailVariables, mailKindNames } from '../../mail/kinds/index.ts'
import { createLibrary } from '../../mail/languages/library.ts'
import { createMailRenderer, type MailRendererOptions } from '../../mail/render.ts'
import { providerTitles } from '../../providers/registry.ts'

interface Warning {
  details: { kind?: string; reason?: string; part?: string }
  message: string
}

type Settings = Partial<Record<EmailKind, string>>

interface Change extends Omit<Partial<MailRendererOptions>, 'templates' | 'subjects'> {
  templates?: Settings
  subjects?: Settings
}

/** Renders in English by default. */
export function rendererWith({ templates = {}, subjects = {}, ...change }: Change = {}) {
  const warnings: Warning[] = []
  const made = createMailRenderer({
    fetch: globalThis.fetch,
    siteUrl: 'https://app.example',
    folder: undefined,
    templates: toSettings(templates),
    subjects: toSettings(subjects),
    messagesFor: createLibrary(() => undefined).get,
    defaultTag: 'en',
    maxAgeSeconds: 600,
    retrySeconds: 10,
    maxBytes: 1_000_000,
    providerTitles,
    renewing: false,
    rereading: false,
    log: { warn: (details, message) => void warnings.push({ details, message }) },
    ...change,
  })
  const render = <Kind extends EmailKind>(kind: Kind, variables: MailVariables[Kind], tag = 'en') =>
    made.render(kind, variables, tag)
  return { renderer: { ...made, render }, warnings }
}

function toSettings(settings: Settings): CustomTemplateSetting[] {
  return mailKindNames.flatMap((kind) => {
    const value = settings[kind]
    return value === undefined ? [] : [{ kind, value }]
  })
}

const common = { SiteURL: 'https://app.example', Email: 'ada@example.org', Data: { name: 'Ada' } }

const link = {
  ...common,
  ConfirmationURL:
    'https://auth.example/verify?token=pkce_5ec7e7&type=signup&redirect_to=https%3A%2F%2Fapp.example%2F%3Fa%3D1',
  Token: '123456',
  TokenHash: 'pkce_5ec7e7',
  RedirectTo: 'https://app.example/?a=1',
}

/** Valid variables for every type. */
export const samples: MailVariables = {
  confirmation: link,
  invite: link,
  recovery: link,
  magic_link: link,
  email_change: { ...link, NewEmail: 'ada@example.com', SendingTo: 'ada@example.com' },
  reauthentication: { ...common, Token: '123456' },
  organization_invitation: {
    ...common,
    OrganizationName: 'Acme',
    InvitedBy: 'grace@example.org',
    Role: 'member',
    InvitationURL: 'https://app.example/#organization_invitation=e5d',
    InvitationToken: 'e5d',
  },
  organization_domain: {
    ...common,
    OrganizationName: 'Acme',
    Domain: 'example.org',
    Token: '123456',
  },
  password_changed_notification: common,
  email_changed_notification: { ...common, OldEmail: 'old@example.org' },
  phone_changed_notification: { ...common, Phone: '15550102', OldPhone: '15550101' },
  identity_linked_notification: { ...common, Provider: 'github' },
  identity_unlinked_notification: { ...common, Provider: 'custom:acme' },
  mfa_factor_enrolled_notification: { ...common, FactorType: 'totp' },
  mfa_factor_unenrolled_notification: { ...common, FactorType: 'phone' },
  security_key_refused_notification: common,
  recovery_code_used_notification: { ...common, Remaining: '9' },
  new_sign_in_notification: {
    ...common,
    Device: 'Firefox, Windows',
    IPAddress: '203.0.113.7',
    SignedInAt: '2026-03-04T05:06:07.000Z',
    EndSessionURL: 'https://auth.example/sessions/end?token=e5d',
  },
  refresh_token_reused_notification: common,
  passkey_added_notification: { ...common, PasskeyName: 'Google Password Manager' },
  mfa_verification_failed_notification: common,
  too_many_attempts_notification: common,
  account_deleted_notification: common,
  username_changed_notification: { ...common, Username: 'ada' },
  app_connected_notification: { ...common, ClientName: 'Grafana', Scopes: 'openid email' },
  admin_role_notification: { ...common, Account: 'grace@example.org', Role: 'operator' },
  organization_role_notification: {
    ...common,
    Account: 'grace@example.org',
    OrganizationName: 'Acme',
    Role: 'admin',
  },
  scim_token_notification: { ...common, TokenName: 'Entra ID', ConnectionName: 'Acme' },
  oauth_client_notification: { ...common, ClientName: 'Grafana', Change: 'redirect_uris' },
  server_change_notification: { ...common, Account: 'grace@example.org', Change: 'AUTH_SITE_URL' },
}
