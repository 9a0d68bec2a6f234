"""Zstandard: frames that the reference implementation has made."""

from __future__ import annotations

import base64

import pytest

from warplens.compiler import zstd
from warplens.errors import CubinError

# `zstd -19` of words(), `zstd -3` of letters(), in base 85
WORDS = (
    "D77#BV4WXb6#yzqxCj=YCxs4xOgv|u_yYhBDU(b|CLZixnTr5}0D%A^L>*5{bj(p9zda-"
    "$!yKv_64!;~XGPJk+_sA2;E8GWk*WQJXd78Yy=KA|DNP(~amuFf-<kStSZs2(my4&<8y8ONPgznED(mC+ZYrWyD!usmm@{|LrLK+WMoKB-"
    "m?o!Ivv%Vm7B~v)gs6rY2{uD#K`O9e3lRhW7z`)~0S3VUfdT{vLIhGpF$?FNBE+hiU;jlzNM@%H1zq0%U_C`cA~RK+o)q;lku)UY2u|s9)L5#SYG"
    "W#KNh119Ly{7i5Gg($tGB9CxE3lx8P*U({-_g-RmsFfVjj_6kwX8~mhl?jw@8^HFVrbF`=wo^3DV1Rx%U<0MWwT*geo&>2qzoOMpz1^0o9)Blo>v"
    "zVe+s%^m*sB5XUQHP1i{l6eW2U6Z)+wDd}g$XT}&A3A@FWOhu``CdE&4hqx&JQdb(Dm%P;qH>51B6|u7_b}W)s%C22Oz07UxB8g!aGZHk<lj>EeQ"
    ">8R@nus`3yL>|Ga0ZTTnbgclLS{RX{k?A`Sfk5LToz}AjFYL7CQd>=Yw8&p8X_XAR5MW}o5kbNNtT@wO;?_|<eUu!M;0na=`pb^W~SkSWMo?OucQ"
    "*M2{9ogFhZ3t;t?qllBS^AD!MqW6K=S=aP>>{5jBD?6L){Nk;c4YmwrxeT-L>ts)ZP&dWvc|j$gHKcikN+M!KmbmG84Pfsd#WAQ-"
    "&%J5h640}=cq2tN>Ui_+CD8Dtii<_J+cR}i?xmRXW7>IPU@iluH7EtGWE@F<y_%2y}ekx#Nnc|y1gDyeU<n^@k$ptuPJq02qih2mbpJp%AyEwxf9"
    "l}VM<NbMks3jBc|_<^4V{tE;)0As*k1p"
)
LETTERS = (
    "D77#BVB7??5&%{jDG1<gBD)hnRRJXcB>*M>v*gaUoAMzKql@W7GTi)^gUD=Xf$}V1;R7MSK%aLkb)S>W0|3zZ__^IAxc(YWu+~YZys7{&qF?!0k#"
    "QuDXGh43*gYVN69m*Uk~n0Q-"
    "T>9hNfu$KEwce79f0n3Y$z{|Dep&C@!}16m`=6?2M>^4G)KG*OSzFF86$0(T?~Q?wg`@bClt`4Mu;x4gKSO!c!2b%@g-"
    "C=nxv9pHy{E+jAC~l5U^JVJ0u_Plpp@5hH3V2s!MJ_lQgs5j5-y&185|XWgJUQ=Mrb*kN9f|R6Hppk}5-"
    "`3*kk1GC{y2GSWEvPf=<+`XW^F3f<)9v3g9TbCS2SlSA(#-Khtld7x1Q>?Dvj6tn!Ot!#fRf|6&CiLR+-"
    "%SkV>5DEcYx<Thee}pz=XGl3l*Pu@FK#-"
    "c&#$Zd60dhiEc|^RB(v5#mW%i$*VOMx%1IRpbNRR1nq*Cx1v@C^4;cZv>viXcvJ}kr27PkRHF$Fg;PKRWg_u~#Y=Ltox^;SGbIn1SuUeDefB_M>@"
    "?4F=wr_}z%R9wEifeB14WfkA{LUmr9+A~0dyllWA`5ZI&VoHj>4`;<*KDhlVpRS0MrN_H*<;6U#4Smv>?ak!j<3o@iKH)F~rgBI@jEc9BUrj7YmK"
    "^4Dl>m?Br+k5Ueg^8Jh_7x)2^063AcCM>KwER17!&>V)x)O1+%}ybRB#QRh78K8I26#PF`RZBsaGZpOyx1+;MxJwI(oGMqs_y{9qS|Ip?Hc|Ablx"
    "S"
)


def words() -> bytes:
    return " ".join(f"{n * n % 977} warps of block {n % 7}" for n in range(400)).encode()


def letters() -> bytes:
    """Too much for one stream of literals, and without matches."""
    state, made = 1, bytearray()
    for _ in range(1500):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        made.append(b"aaaaaaabbbccdefg"[state >> 16 & 15])
    return bytes(made)


def test_matches_and_literals() -> None:
    assert zstd.decompress(base64.b85decode(WORDS)) == words()
    assert zstd.decompress(base64.b85decode(LETTERS)) == letters()


def test_stored_and_repeated_blocks() -> None:
    stored = (3 << 3).to_bytes(3, "little") + b"abc"
    repeated = (5 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"z"
    assert zstd.decompress(zstd.MAGIC + b"\x20\x08" + stored + repeated) == b"abczzzzz"


@pytest.mark.parametrize("cut", [3, 5, 9, 40, 300, -1])
def test_damaged_frames_are_refused(cut: int) -> None:
    with pytest.raises(CubinError, match="damaged"):
        zstd.decompress(base64.b85decode(WORDS)[:cut])
