/** The built-in languages. A missing message is a type error. */
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import it from './it.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }
import { english, type Language } from './language.ts'
import nl from './nl.json' with { type: 'json' }
import pl from './pl.json' with { type: 'json' }
import ptBR from './pt-BR.json' with { type: 'json' }
import tr from './tr.json' with { type: 'json' }
import zhHans from './zh-Hans.json' with { type: 'json' }

/** By tag (BCP 47). */
export const shippedLanguages: ReadonlyMap<string, Language> = new Map<string, Language>([
  ['en', english],
  ['de', de],
  ['fr', fr],
  ['es', es],
  ['it', it],
  ['pt-BR', ptBR],
  ['nl', nl],
  ['pl', pl],
  ['tr', tr],
  ['ar', ar],
  ['ja', ja],
  ['zh-Hans', zhHans],
])
