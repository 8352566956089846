/** Every variable of the server: the single schema for parsing, types, documentation and example. */
import type { Static, TOptional, TSchema } from '@sinclair/typebox'

import { accountPage, console, core, outgoing, signup, usernames } from './core.ts'
import { audit, cleanup, database, takeover } from './database.ts'
import { emailKinds, languages, type MailLocaleValues, mailer, smtp } from './email.ts'
import { customProviders, oauthServer, organizations, saml, scim, wallets } from './enterprise.ts'
import { external, externalProviders, type GenericOidcValues } from './external-providers.ts'
import { hooks, webhooks } from './hooks.ts'
import { encryption, inherited, jwt } from './jwt.ts'
import { mfa, passkeys } from './mfa.ts'
import { captcha, disclosure, passwords, securityTxt } from './security.ts'
import { impersonation, limits, sessions } from './sessions.ts'
import { sms } from './sms.ts'
import { telemetry } from './telemetry.ts'

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
