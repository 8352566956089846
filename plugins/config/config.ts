/** Every variable of the server: the one schema behind reading, types, documentation and example. */
import type { Static, TOptional, TSchema } from '@sinclair/typebox'

import type { GenericOidcValues } from './generic-oidc.ts'
import { core, outgoing, signup } from './groups/core.ts'
import { audit, cleanup, database, takeover } from './groups/database.ts'
import { languages, mailer, mailKinds, smtp } from './groups/email.ts'
import { customProviders, oauthServer, otherSignIns, saml } from './groups/enterprise.ts'
import { external, externalProviders } from './groups/external-providers.ts'
import { hooks } from './groups/hooks.ts'
import { encryption, inherited, jwt } from './groups/jwt.ts'
import { mfa, passkeys } from './groups/mfa.ts'
import { captcha, passwords } from './groups/security.ts'
import { impersonation, limits, plannedLimits, sessions } from './groups/sessions.ts'
import { sms } from './groups/sms.ts'
import { telemetry } from './groups/telemetry.ts'
import { webhooks } from './groups/webhooks.ts'
import type { MailLocaleValues } from './mail-locales.ts'

export const variables = {
  ...core,
  ...database,
  ...takeover,
  ...jwt,
  ...encryption,
  ...signup,
  ...passwords,
  ...sessions,
  ...impersonation,
  ...smtp,
  ...mailer,
  ...mailKinds,
  ...languages,
  ...sms,
  ...captcha,
  ...external,
  ...externalProviders,
  ...limits,
  ...plannedLimits,
  ...telemetry,
  ...outgoing,
  ...audit,
  ...cleanup,
  ...mfa,
  ...passkeys,
  ...hooks,
  ...webhooks,
  ...saml,
  ...oauthServer,
  ...customProviders,
  ...otherSignIns,
  ...inherited,
}

export type VariableName = keyof typeof variables

/** Presence is part of the type, not of the key: an unset variable is there, and undefined. */
type Value<S extends TSchema> = S extends TOptional<infer T> ? Static<T> | undefined : Static<S>

type Values = { [K in VariableName]: Value<(typeof variables)[K]> }

/** Settings of the running server, under the names of their variables; durations in seconds. */
export type Config = Values & GenericOidcValues & MailLocaleValues & { dev: boolean }

export const variableEntries = Object.entries(variables) as [VariableName, TSchema][]
