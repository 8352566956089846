/**
 * The steps of a change of keys, each of which the operator brings to every replica before the next one: a key is read
 * everywhere before anybody writes with it, and goes when nothing needs it.
 */
import type { Config } from '../../plugins/config/config.ts'
import { keyId, keyOfSecret } from '../../plugins/encryption/keys.ts'
import type { UsedKey } from './used-keys.ts'

export interface Change {
  /** An empty value stands for a variable that goes. */
  variables: Record<string, string>
  /** What to do when they are set. */
  advice: string
}

/** What the variables are to be next. Throws an Error, one sentence, for what has to come first. */
export function nextChange(config: Config, keys: readonly UsedKey[], newKey: () => string): Change {
  if (!config.AUTH_ENCRYPTION_KEY) return takeOver(config)
  if (config.AUTH_ENCRYPTION_NEXT_KEY) return swap(config, config.AUTH_ENCRYPTION_KEY)
  const old = keys.filter(({ origin }) => origin === 'AUTH_ENCRYPTION_OLD_KEYS')
  if (old.some(({ mayGo }) => mayGo)) return retire(config, old)
  if (old.some(({ movable }) => movable > 0)) {
    throw new Error(
      'Keys of AUTH_ENCRYPTION_OLD_KEYS still hold something: run `npm run keys -- encryption reencrypt` first.',
    )
  }
  return {
    variables: { AUTH_ENCRYPTION_NEXT_KEY: newKey() },
    advice:
      'Step 1 of 3: bring AUTH_ENCRYPTION_NEXT_KEY to every replica and restart them one by one; they read it and write as before. Then run this again.',
  }
}

/** The key that was made from the secret gets a variable: it is the same key, so that nothing else changes. */
function takeOver(config: Config): Change {
  return {
    variables: { AUTH_ENCRYPTION_KEY: keyOfSecret(config).toString('base64url') },
    advice:
      'This is the key that was made from AUTH_JWT_SECRET. Bring it to every replica and restart them one by one; AUTH_JWT_SECRET may then be replaced. To change the key as well, run this again.',
  }
}

function swap(config: Config, current: string): Change {
  const { AUTH_ENCRYPTION_NEXT_KEY: next = '', AUTH_ENCRYPTION_OLD_KEYS: old } = config
  return {
    variables: {
      AUTH_ENCRYPTION_KEY: next,
      AUTH_ENCRYPTION_NEXT_KEY: '',
      AUTH_ENCRYPTION_OLD_KEYS: [current, ...old].join(','),
    },
    advice:
      'Step 2 of 3: bring these to every replica and restart them one by one. When the last one has them, run `npm run keys -- encryption reencrypt`, then this again.',
  }
}

function retire(config: Config, old: readonly UsedKey[]): Change {
  const needed = new Set(old.filter(({ mayGo }) => !mayGo).map(({ id }) => id))
  const kept = config.AUTH_ENCRYPTION_OLD_KEYS.filter((key) =>
    needed.has(keyId(Buffer.from(key, 'base64url'))),
  )
  return {
    variables: { AUTH_ENCRYPTION_OLD_KEYS: kept.join(',') },
    advice:
      'Step 3 of 3: what is left out is needed for nothing stored. Bring this to every replica and restart them one by one, once codes that were mailed before step 2 have expired.',
  }
}
