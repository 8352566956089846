/** What the server knows about a kind of mail: each has a file of its own in kinds/. */
import { type TObject, type TProperties, Type } from '@sinclair/typebox'

import { commonSample, type LinkType, linkSample, type SampleAddresses } from './sample.ts'

/** The variable that holds the address behind the button of a mail. */
export type ButtonVariable = 'ConfirmationURL' | 'EndSessionURL'

export interface MailKindFacts {
  /** Ends the names of the kind's settings: `AUTH_MAILER_SUBJECTS_<suffix>`. */
  envSuffix: string
  /** Carries a confirmation link with its typed code. */
  link: boolean
  /** Where its button leads, when it has one. */
  button?: ButtonVariable | undefined
  /** What `$messageType` in AUTH_SMTP_HEADERS becomes. */
  messageType: string
  /** What a template of this kind may name. Plain JSON, so that a queue can hold it. */
  variables: TObject
  /** The variables of a mail to made-up people, to be looked at. */
  sample: (addresses: SampleAddresses) => Record<string, unknown>
}

export const commonVariables = {
  SiteURL: Type.String(),
  Email: Type.String(),
  /** The person's user_metadata. Anybody may have written it. */
  Data: Type.Record(Type.String(), Type.Unknown()),
}

export const linkVariables = {
  ...commonVariables,
  ConfirmationURL: Type.String(),
  /** The code to be typed. */
  Token: Type.String(),
  /** The token of the link, with its prefix if it has one. */
  TokenHash: Type.String(),
  RedirectTo: Type.String(),
}

interface LinkFacts<Suffix> {
  envSuffix: Suffix
  /** The `type` of its link. */
  linkType: LinkType
}

/** A mail with a link and its typed code, and nothing else of its own. */
export function linkKind<const Suffix extends string>({ linkType, ...facts }: LinkFacts<Suffix>) {
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
  /** What has happened: names the setting AUTH_MAILER_NOTIFICATIONS_<event>_ENABLED. */
  event: Event
  /** The variables it has beside the common ones. */
  details: Details
  button?: ButtonVariable
  sample: Sample
}

/** A mail that only tells what has happened to an account. */
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
