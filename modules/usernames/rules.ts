/** The usernames that the configuration allows, and which look alike. */
import type { FastifyInstance } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { isUsernameFree, type Username } from '../../db/usernames/usernames.ts'
import { usernameInvalid, usernamesDisabled, usernameTaken } from '../../schemas/errors.ts'
import { enforceUsername } from './precis.ts'

interface UsernameRules {
  computeSkeleton: ComputeSkeleton
  minLength: number
  maxLength: number
  allowsUnicode: boolean
  /** Skeletons. */
  reserved: ReadonlySet<string>
}

export function usernameRules(config: Config, computeSkeleton: ComputeSkeleton): UsernameRules {
  const reserved = config.AUTH_USERNAMES_RESERVED.map((word) => enforceUsername(word) ?? word)
  return {
    computeSkeleton,
    minLength: config.AUTH_USERNAMES_MIN_LENGTH,
    maxLength: config.AUTH_USERNAMES_MAX_LENGTH,
    allowsUnicode: config.AUTH_USERNAMES_ALLOW_UNICODE,
    reserved: new Set(reserved.map(computeSkeleton)),
  }
}

const ascii = /^[a-z0-9._-]+$/
/** A leading mark would be drawn over the text before the name. */
const unicode = /^(?!\p{M})(?:[a-z0-9._-]|[^\0-\x7f])+$/u

/** Returns the canonical form. Throws username_invalid. */
export function readUsername(rules: UsernameRules, input: string): Username {
  const { minLength, maxLength, allowsUnicode, computeSkeleton } = rules
  // Checked before the work that grows with the length.
  const username = input.length > maxLength * 4 ? undefined : enforceUsername(input)
  const length = username === undefined ? 0 : [...username].length
  const pattern = allowsUnicode ? unicode : ascii
  if (!username || length < minLength || length > maxLength || !pattern.test(username)) {
    const letters = allowsUnicode ? 'letters and digits of any script' : 'letters a to z, digits'
    throw usernameInvalid(
      `A username has ${minLength} to ${maxLength} characters: ${letters}, dots, underscores and hyphens`,
    )
  }
  return { username, skeleton: computeSkeleton(username) }
}

/** The same for a name that is to be assigned. Throws username_taken for a reserved word. */
export function readNewUsername(rules: UsernameRules, input: string): Username {
  const name = readUsername(rules, input)
  if (rules.reserved.has(name.skeleton)) throw usernameTaken()
  return name
}

/** Whether this user, or a new one, may take the name. */
export async function isAvailable(
  { reserved }: UsernameRules,
  db: Db,
  name: Username,
  userId: string | null,
  now: Date,
): Promise<boolean> {
  return !reserved.has(name.skeleton) && (await isUsernameFree(db, name, userId, now))
}

/** The rules; throws feature_disabled without AUTH_USERNAMES_ENABLED. */
export function getUsernameRules({ usernames: { rules } }: FastifyInstance): UsernameRules {
  if (!rules) throw usernamesDisabled()
  return rules
}

/** The skeleton of Unicode Technical Standard #39 §4: names that look alike have the same skeleton. */
export type ComputeSkeleton = (name: string) => Username['skeleton']

function createSkeleton(prototypes: Readonly<Record<string, string>>): ComputeSkeleton {
  const byCharacter = new Map(Object.entries(prototypes))
  return (name) =>
    [...name.normalize('NFD')]
      .filter((char) => !/\p{Default_Ignorable_Code_Point}/u.test(char))
      .map((char) => byCharacter.get(char) ?? char)
      .join('')
      .normalize('NFD')
}

/** The server's own implementation; the table is loaded only where usernames are enabled. */
export async function loadSkeleton(): Promise<ComputeSkeleton> {
  const { default: table } = await import('./confusables.json', { with: { type: 'json' } })
  return createSkeleton(table.prototypes)
}
