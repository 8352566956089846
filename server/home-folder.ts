/** The home folder of the process: a numeric user id may have neither a name nor a folder. */
import { homedir } from 'node:os'

/** graphile-worker reads the folder at import and throws without one. */
export function allowNoHome(env: { HOME?: string | undefined }, find = homedir): void {
  try {
    find()
  } catch {
    env.HOME = ''
  }
}
