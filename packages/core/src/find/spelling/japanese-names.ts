/*
 * The kanji of a Japanese name do not determine its reading, so these lists contain the commonest names, written by hand from
 * common knowledge. Other names are not read.
 */
export const JAPANESE_FAMILIES = `
  佐藤 sato 90 satoh 10
  鈴木 suzuki
  高橋 takahashi
  髙橋 takahashi
  田中 tanaka
  伊藤 ito 88 itoh 12
  伊東 ito 90 itoh 10
  渡辺 watanabe
  渡邊 watanabe
  渡邉 watanabe
  渡部 watanabe 85 watabe 15
  山本 yamamoto
  中村 nakamura
  小林 kobayashi
  加藤 kato 90 katoh 10
  吉田 yoshida
  山田 yamada
  佐々木 sasaki
  山口 yamaguchi
  松本 matsumoto
  井上 inoue
  木村 kimura
  林 hayashi
  斎藤 saito 90 saitoh 10
  斉藤 saito 90 saitoh 10
  齋藤 saito 90 saitoh 10
  清水 shimizu
  山崎 yamazaki 80 yamasaki 20
  森 mori
  池田 ikeda
  橋本 hashimoto
  阿部 abe
  安部 abe
  石川 ishikawa
  山下 yamashita
  中島 nakajima 82 nakashima 18
  石井 ishii
  小川 ogawa
  前田 maeda
  岡田 okada
  長谷川 hasegawa
  藤田 fujita
  後藤 goto 90 gotoh 10
  近藤 kondo 92 kondoh 8
  村上 murakami
  遠藤 endo 92 endoh 8
  青木 aoki
  坂本 sakamoto
  福田 fukuda
  太田 ota 72 ohta 28
  大田 ota 72 ohta 28
  西村 nishimura
  藤井 fujii
  金子 kaneko
  藤原 fujiwara
  岡本 okamoto
  三浦 miura
  中野 nakano
  中川 nakagawa
  原田 harada
  松田 matsuda
  竹内 takeuchi
  小野 ono
  大野 ono 72 ohno 28
  田村 tamura
  中山 nakayama
  和田 wada
  石田 ishida
  森田 morita
  上田 ueda
  原 hara
  内田 uchida
  柴田 shibata
  酒井 sakai
  坂井 sakai
  宮崎 miyazaki
  横山 yokoyama
  高木 takagi
  安藤 ando 92 andoh 8
  宮本 miyamoto
  大塚 otsuka 75 ohtsuka 25
  小島 kojima
  谷口 taniguchi
  今井 imai
  工藤 kudo 94 kudoh 6
  高田 takada
  増田 masuda
  丸山 maruyama
  杉山 sugiyama
  村田 murata
  新井 arai
  荒井 arai
  大西 onishi 75 ohnishi 25
  平野 hirano
  河野 kono 85 kawano 15
  藤本 fujimoto
  野口 noguchi
  松井 matsui
  千葉 chiba
  岩崎 iwasaki
  桜井 sakurai
  櫻井 sakurai
  木下 kinoshita
  野村 nomura
  松尾 matsuo
  菊地 kikuchi
  菊池 kikuchi
  佐野 sano
  大島 oshima 75 ohshima 25
  杉本 sugimoto
  新田 nitta
  古川 furukawa
  浜田 hamada
  濱田 hamada
  市川 ichikawa
  小松 komatsu
  高野 takano
  水野 mizuno
  吉川 yoshikawa
  山内 yamauchi
  西田 nishida
  西川 nishikawa
  菅原 sugawara
  北村 kitamura
  五十嵐 igarashi
  福島 fukushima
  安田 yasuda
  中田 nakata 75 nakada 25
  平田 hirata
  川口 kawaguchi
  川崎 kawasaki
  飯田 iida
  東 higashi 75 azuma 25
  本田 honda
  久保 kubo
  服部 hattori
  岩田 iwata
  土屋 tsuchiya
  樋口 higuchi
  秋山 akiyama
  永井 nagai
  中西 nakanishi
  松岡 matsuoka
  関 seki
  吉村 yoshimura
  星野 hoshino
  大久保 okubo 78 ohkubo 22
  松下 matsushita
  黒田 kuroda
`;

export const JAPANESE_GIVEN = `
  太郎 taro 85 tarou 15
  一郎 ichiro 88 ichirou 12
  健太郎 kentaro 90 kentarou 10
  健 ken 60 takeshi 40
  健一 kenichi
  健太 kenta
  健二 kenji
  健司 kenji
  賢治 kenji
  大輔 daisuke
  大介 daisuke
  誠 makoto
  直樹 naoki
  直人 naoto
  哲也 tetsuya
  達也 tatsuya
  拓也 takuya
  和也 kazuya
  隆 takashi
  孝 takashi
  浩 hiroshi
  博 hiroshi
  宏 hiroshi
  浩二 koji 92 kouji 8
  浩一 koichi 92 kouichi 8
  洋平 yohei 90 youhei 10
  洋介 yosuke 88 yousuke 12
  陽介 yosuke 88 yousuke 12
  裕介 yusuke 90 yuusuke 10
  祐介 yusuke 90 yuusuke 10
  雄太 yuta 88 yuuta 12
  翔太 shota 88 shouta 12
  翔 sho 80 shou 20
  大翔 hiroto 70 haruto 30
  陽翔 haruto
  悠真 yuma 70 haruma 30
  蓮 ren
  亮 ryo 85 ryou 15
  亮太 ryota 88 ryouta 12
  涼太 ryota 88 ryouta 12
  剛 tsuyoshi 70 takeshi 30
  学 manabu
  修 osamu
  聡 satoshi
  智 satoshi
  淳 atsushi 70 jun 30
  潤 jun
  純 jun
  進 susumu
  豊 yutaka
  茂 shigeru
  実 minoru
  明 akira
  晃 akira
  昭 akira
  勇 isamu
  勝 masaru
  正 tadashi
  清 kiyoshi
  秀樹 hideki
  英樹 hideki
  弘樹 hiroki
  裕樹 hiroki 60 yuki 40
  大樹 daiki
  雅人 masato
  正人 masato
  隼人 hayato
  恵子 keiko
  敬子 keiko
  陽子 yoko 90 youko 10
  洋子 yoko 90 youko 10
  裕子 yuko 75 hiroko 25
  優子 yuko 92 yuuko 8
  久美子 kumiko
  由美子 yumiko
  真由美 mayumi
  智子 tomoko
  幸子 sachiko 75 yukiko 25
  直子 naoko
  典子 noriko
  花子 hanako
  順子 junko
  美穂 miho
  美咲 misaki
  美香 mika
  恵 megumi
  愛 ai
  香織 kaori
  葵 aoi
  結衣 yui
  陽菜 hina 75 haruna 25
  さくら sakura
  桜 sakura
  彩 aya
  彩香 ayaka
  麻衣 mai
  舞 mai
  千尋 chihiro
  真理子 mariko
`;
