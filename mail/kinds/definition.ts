/** The definition of a type of email; each has a file in kinds/. */
import { type TObject, type TProperties, Type } from '@sinclair/typebox'

import { commonSample, type LinkType, linkSample, type SampleAddresses } from './sample.ts'

/** The variable with the URL of the email's button. */
export type ButtonVariable = 'ConfirmationURL' | 'EndSessionURL' | 'InvitationURL'

export interface EmailKindDefinition {
  /** The suffix of the type's settings: `AUTH_MAILER_SUBJECTS_<suffix>`. */
  envSuffix: string
  /** Contains a confirmation link with its code. */
  link: boolean
  /** The target of its button, if it has one. */
  button?: ButtonVariable | undefined
  /** The value of `$messageType` in AUTH_SMTP_HEADERS. */
  messageType: string
  /** The variables of its templates. Plain JSON, so that a queue can store them. */
  variables: TObject
  /** The variables of a sample email, for previews. */
  sample: (addresses: SampleAddresses) => Record<string, unknown>
}

export const commonVariables = {
  SiteURL: Type.String(),
  Email: Type.String(),
  /** The user's user_metadata, which is under the user's control. */
  Data: Type.Record(Type.String(), Type.Unknown()),
}

export const linkVariables = {
  ...commonVariables,
  ConfirmationURL: Type.String(),
  /** The one-time code. */
  Token: Type.String(),
  /** The token of the link, with its prefix if it has one. */
  TokenHash: Type.String(),
  RedirectTo: Type.String(),
}

interface LinkKindDefinition<Suffix> {
  envSuffix: Suffix
  /** The `type` of its link. */
  linkType: LinkType
}

/** An email with a link and its code, and no other variables. */
export function linkKind<const Suffix extends string>({
  linkType,
  ...facts
}: LinkKindDefinition<Suffix>) {
  return {
    ...facts,
    link: true,
    button: 'ConfirmationURL' as const,
    messageType: facts.envSuffix.toLowerCase(),
    variables: Type.Object(linkVariables),
    sample: (addresses: SampleAddresses) => linkSample(addresses, linkType),
  }
}

interface NotificationFacts<Event, Details, Sample> {
  /** Names the setting AUTH_MAILER_NOTIFICATIONS_<event>_ENABLED. */
  event: Event
  /** Its variables in addition to the common ones. */
  details: Details
  button?: ButtonVariable
  sample: Sample
}

/** A security notification about an account. */
export function notificationKind<
  const Event extends string,
  Details extends TProperties,
  Sample extends object,
>({ event, details, sample, ...facts }: NotificationFacts<Event, Details, Sample>) {
  const envSuffix = `${event}_NOTIFICATION` as const
  return {
    ...facts,
    event,
    envSuffix,
    link: false,
    messageType: envSuffix.toLowerCase(),
    variables: Type.Object({ ...commonVariables, ...details }),
    sample: (addresses: SampleAddresses) => ({ ...commonSample(addresses), ...sample }),
  }
}
