/** Every variable of the server: the single schema for parsing, types, documentation and example. */
import type { Static, TOptional, TSchema } from '@sinclair/typebox'

import { accountPage, console } from './console.ts'
import { core, outgoing, signup } from './core.ts'
import { audit, cleanup, database, takeover } from './database.ts'
import { emailKinds, languages, mailer, smtp } from './email.ts'
import { customProviders, oauthServer, saml, scim, wallets } from './enterprise.ts'
import { external, externalProviders } from './external-providers.ts'
import type { GenericOidcValues } from './generic-oidc.ts'
import { hooks } from './hooks.ts'
import { encryption, inherited, jwt } from './jwt.ts'
import type { MailLocaleValues } from './mail-locales.ts'
import { mfa, passkeys } from './mfa.ts'
import { organizations } from './organizations.ts'
import { captcha, disclosure, passwords } from './security.ts'
import { securityTxt } from './security-txt.ts'
import { impersonation, limits, sessions } from './sessions.ts'
import { sms } from './sms.ts'
import { telemetry } from './telemetry.ts'
import { usernames } from './usernames.ts'
import { webhooks } from './webhooks.ts'

export const variables = {
  ...core,
  ...database,
  ...takeover,
  ...jwt,
  ...encryption,
  ...signup,
  ...usernames,
  ...passwords,
  ...sessions,
  ...impersonation,
  ...console,
  ...smtp,
  ...mailer,
  ...emailKinds,
  ...languages,
  ...sms,
  ...captcha,
  ...disclosure,
  ...securityTxt,
  ...external,
  ...externalProviders,
  ...limits,
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
  ...accountPage,
  ...customProviders,
  ...wallets,
  ...scim,
  ...organizations,
  ...inherited,
}

export type ConfigVariableName = keyof typeof variables

/** An optional variable is a required key whose value may be undefined. */
type Value<S extends TSchema> = S extends TOptional<infer T> ? Static<T> | undefined : Static<S>

type Values = { [K in ConfigVariableName]: Value<(typeof variables)[K]> }

/** Settings under the names of their variables; durations in seconds. */
export type Config = Values &
  GenericOidcValues &
  MailLocaleValues & {
    dev: boolean
    /** Names of the variables that are set: setting a variable to its default differs from not setting it. */
    given: ReadonlySet<string>
  }

export const variableEntries = Object.entries(variables) as [ConfigVariableName, TSchema][]
