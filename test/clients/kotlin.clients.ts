/** Auth of supabase-kt, by Maven from its central repository, as is the Kotlin compiler. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { client } from './journeys.ts'
import { installs, missing, runScript } from './script.ts'

client(
  'supabase-kt',
  async (world, runJourney, t) => {
    const folder = temporaryFolder(t, 'kotlin')
    const project = ['--file', join(import.meta.dirname, 'kotlin/pom.xml'), `-Dbuild=${folder}`]
    const maven = ['--batch-mode', '--quiet', '-Dstyle.color=never', ...project]
    if (!installs(t, 'mvn', [...maven, 'dependency:go-offline'])) return
    const list = join(folder, 'classpath')
    const build = ['compile', 'dependency:build-classpath', `-Dmdep.outputFile=${list}`]
    execFileSync('mvn', [...maven, ...build], { stdio: 'inherit' })
    const classes = [join(folder, 'classes'), readFileSync(list, 'utf8')].join(delimiter)
    await runScript(t, world, runJourney, ['java', '-cp', classes, 'JourneysKt'])
  },
  { skip: missing('mvn', '--version') || missing('java', '-version') },
)
