/** The folder of whoever runs this: the number of a user of the system may have no name, and then no folder either. */
import { homedir } from 'node:os'

/** graphile-worker asks for the folder when it is loaded, and would end the process where there is none. */
export function allowNoHome(env: { HOME?: string | undefined }, find = homedir): void {
  try {
    find()
  } catch {
    env.HOME = ''
  }
}
